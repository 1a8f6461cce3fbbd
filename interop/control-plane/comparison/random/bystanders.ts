import { ConfigMap, Namespace, Pod, ResourceQuota, Service } from '@coxswain/api/core/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import { labels } from '../scenarios/workload.ts'
import type { Action, Draw } from './draw.ts'

const budgets = [
  { minAvailable: 1 },
  { minAvailable: 2 },
  { minAvailable: '50%' },
  { maxUnavailable: 1 },
  { maxUnavailable: 0 },
  { maxUnavailable: '34%' },
  { maxUnavailable: '100%' },
]
export const makeBudget = (draw: Draw): Action => {
  const spec = {
    ...draw.pick(budgets),
    unhealthyPodEvictionPolicy: draw.pick([undefined, 'AlwaysAllow', 'IfHealthyBudget']),
  }
  return {
    say: `budget ${JSON.stringify(spec)}`,
    run: async stage => {
      await stage.remove(PodDisruptionBudget, 'web').catch(() => {})
      await stage.create(PodDisruptionBudget, 'web', { spec: { selector: { matchLabels: labels }, ...spec } })
    },
  }
}

const specs: readonly object[] = [
  { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  {
    ports: [
      { name: 'http', port: 80, targetPort: 'http' },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
  },
  {
    ports: [
      { name: 'udp', port: 53, protocol: 'UDP' },
      { name: 'tcp', port: 53 },
    ],
    publishNotReadyAddresses: true,
  },
  { clusterIP: 'None', ports: [{ port: 80, targetPort: 'http' }] },
  { clusterIP: 'None' },
  { type: 'NodePort', ports: [{ port: 80, appProtocol: 'http' }], trafficDistribution: 'PreferSameZone' },
]
export const makeService = (draw: Draw): Action => {
  const spec = draw.pick(specs)
  return {
    say: `service ${JSON.stringify(spec)}`,
    run: async stage => {
      await stage.remove(Service, 'web').catch(() => {})
      await stage.settle(1_500)
      await stage.create(Service, 'web', {
        metadata: { labels: { of: 'web' } },
        spec: { selector: labels, ...spec },
      })
    },
  }
}

export const makeQuota = (draw: Draw): Action => {
  const pods = String(2 + draw.below(4))
  return {
    say: `quota of ${pods} pods`,
    run: async stage => {
      await stage.remove(ResourceQuota, 'limit').catch(() => {})
      await stage.create(ResourceQuota, 'limit', { spec: { hard: { pods, 'count/replicasets.apps': '20' } } })
    },
  }
}
export const dropQuota = (): Action => ({
  say: 'no quota',
  run: stage => stage.remove(ResourceQuota, 'limit'),
})

/** The end of everything; something holds it up, then lets go. */
export const endNamespace: readonly Action[] = [
  {
    say: 'the namespace is deleted, and held',
    run: async stage => {
      await stage.create(ConfigMap, 'held', { metadata: { finalizers: ['example.com/wait'] } })
      // Ours say of pods that are held what the real ones keep to themselves.
      for (const { metadata } of await stage.list(Pod))
        if (metadata.finalizers?.includes('example.com/hold'))
          await stage.patch(Pod, metadata.name, { metadata: { finalizers: null } })
      await stage.client.delete(Namespace, { name: stage.namespace })
      await stage.settle(6_000)
    },
  },
  {
    say: 'the namespace is let go',
    run: async stage => {
      await stage.patch(ConfigMap, 'held', { metadata: { finalizers: null } })
      await stage.until(
        'it is deleted',
        async () => !(await stage.client.get(Namespace, { name: stage.namespace })),
      )
    },
  },
]
/** What stands beside any workload. */
export const bystanders: readonly ((draw: Draw) => Action)[] = [makeBudget, makeService]
