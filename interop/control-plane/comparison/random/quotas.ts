import { ConfigMap, PersistentVolumeClaim, Pod, ResourceQuota, Secret, Service } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { labels } from '../scenarios/workload.ts'
import { endNamespace } from './bystanders.ts'
import { type Action, type Draw, drawActions, type Family } from './draw.ts'
import { failPod } from './pods-by-hand.ts'

const hards: readonly object[] = [
  { pods: '3', 'requests.cpu': '1', 'limits.memory': '1Gi' },
  { cpu: '2', memory: '2Gi', 'requests.ephemeral-storage': '10Gi' },
  { configmaps: '4', secrets: '3', services: '2', 'services.nodeports': '1', persistentvolumeclaims: '2' },
  {
    'count/pods': '5',
    'count/configmaps': '5',
    'requests.storage': '5Gi',
    'fast.storageclass.storage.k8s.io/requests.storage': '2Gi',
  },
  { 'count/deployments.apps': '2', 'requests.example.com/gpu': '2', 'services.loadbalancers': '1' },
]
const scoped: readonly object[] = [
  { hard: { pods: '3' }, scopes: ['BestEffort'] },
  { hard: { pods: '3', cpu: '2' }, scopes: ['NotBestEffort'] },
  { hard: { pods: '3', memory: '1Gi' }, scopes: ['Terminating'] },
  { hard: { pods: '3' }, scopes: ['NotTerminating', 'BestEffort'] },
  {
    hard: { pods: '3' },
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] },
  },
  {
    hard: { pods: '3' },
    scopeSelector: {
      matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }],
    },
  },
  { hard: { pods: '2' }, scopes: ['CrossNamespacePodAffinity'] },
]
const quota = (draw: Draw): Action => {
  const name = `limit-${draw.below(2)}`
  const spec = draw.chance(0.5) ? { hard: draw.pick(hards) } : draw.pick(scoped)
  return {
    say: `${name} ${JSON.stringify(spec)}`,
    run: async stage => {
      await stage.remove(ResourceQuota, name).catch(() => {})
      await stage.create(ResourceQuota, name, { spec })
    },
  }
}
const resources: readonly object[] = [
  {},
  { requests: { cpu: '250m' } },
  { requests: { cpu: '250m', memory: '100Mi' }, limits: { cpu: '1', memory: '200Mi' } },
  { limits: { 'example.com/gpu': '1', cpu: '100m', memory: '1Mi', 'ephemeral-storage': '1Gi' } },
]
const pod = (draw: Draw): Action => {
  const name = `pod-${draw.below(5)}`
  const spec = {
    nodeName: 'node-a',
    restartPolicy: 'Never',
    containers: [
      { name: 'c', image: draw.pick(['one', 'exit-0', 'exit-1', 'broken']), resources: draw.pick(resources) },
    ],
    ...(draw.chance(0.3) && {
      initContainers: [{ name: 'i', image: 'one', resources: draw.pick(resources) }],
    }),
    ...(draw.chance(0.2) && { activeDeadlineSeconds: 1_000 }),
    ...(draw.chance(0.1) && { overhead: { cpu: '10m' } }),
  }
  return {
    say: `${name} ${JSON.stringify(spec)}`,
    run: stage => stage.create(Pod, name, { metadata: { labels }, spec }),
  }
}
const other = (draw: Draw): Action => {
  const kind = draw.pick([ConfigMap, Secret]) as Kind
  const name = `thing-${draw.below(3)}`
  return { say: `${kind.kind} ${name}`, run: stage => stage.create(kind, name) }
}
const service = (draw: Draw): Action => {
  const spec = { type: draw.pick(['ClusterIP', 'NodePort', 'LoadBalancer']), ports: [{ port: 80 }] }
  const name = `service-${draw.below(2)}`
  return { say: `${name} ${spec.type}`, run: stage => stage.create(Service, name, { spec }) }
}
const claim = (draw: Draw): Action => {
  const spec = {
    accessModes: ['ReadWriteOnce'],
    ...(draw.chance(0.5) && { storageClassName: 'fast' }),
    resources: { requests: { storage: draw.pick(['1Gi', '1500Mi']) } },
  }
  const name = `claim-${draw.below(2)}`
  return {
    say: `${name} ${JSON.stringify(spec)}`,
    run: stage => stage.create(PersistentVolumeClaim, name, { spec }),
  }
}
const remove = (draw: Draw): Action => {
  const [kind, prefix] = draw.pick([
    [Pod, 'pod'],
    [Pod, 'pod'],
    [ConfigMap, 'thing'],
    [Service, 'service'],
    [PersistentVolumeClaim, 'claim'],
    [ResourceQuota, 'limit'],
  ] as const)
  const name = `${prefix}-${draw.below(3)}`
  return { say: `${name} deleted`, run: stage => stage.remove(kind as Kind, name) }
}
const touch = (draw: Draw): Action => {
  const name = `limit-${draw.below(2)}`
  const pods = String(2 + draw.below(5))
  return {
    say: `${name} allows ${pods} pods`,
    run: stage => stage.patch(ResourceQuota, name, { spec: { hard: { pods } } }),
  }
}

export const quotas: Family = draw => ({
  actions: [
    quota(draw),
    ...drawActions(draw, 9, [quota, pod, pod, pod, other, service, claim, remove, remove, touch, failPod]),
    ...(draw.chance(0.1) ? endNamespace : []),
  ],
})
