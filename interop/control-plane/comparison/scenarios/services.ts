import { Deployment } from '@coxswain/api/apps/v1'
import { ConfigMap, Endpoints, Pod, ResourceQuota, Service } from '@coxswain/api/core/v1'
import { EndpointSlice } from '@coxswain/api/discovery/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import type { Scenario, Stage } from '../stage.ts'
import { brokenNeverReady, deleteOnePod, labels, podsReady, podTemplate } from './workload.ts'

const ports = [
  { name: 'http', port: 80, targetPort: 8080 },
  { name: 'dns', port: 53, protocol: 'UDP' },
]
const pods = async (stage: Stage, replicas: number, image = 'one') => {
  await stage.create(Deployment, 'web', {
    spec: { replicas, selector: { matchLabels: labels }, template: podTemplate(image) },
  })
  if (image === 'one') await podsReady(stage, replicas)
  else await stage.settle()
}
const service = (stage: Stage, spec: object = {}) =>
  stage.create(Service, 'web', {
    metadata: { labels: { of: 'web' } },
    spec: { selector: labels, ports, ...spec },
  })
const budget = (stage: Stage, spec: object) =>
  stage.create(PodDisruptionBudget, 'web', { spec: { selector: { matchLabels: labels }, ...spec } })
const quota = (stage: Stage, spec: object) => stage.create(ResourceQuota, 'limit', { spec })

export const serviceScenarios: readonly Scenario[] = [
  {
    name: 'endpoints of a service',
    act: async stage => {
      await pods(stage, 2)
      await service(stage)
    },
  },
  {
    name: 'endpoints of a service that was there first',
    act: async stage => {
      await service(stage)
      await stage.settle(1_000)
      await pods(stage, 2)
    },
  },
  { name: 'a Service that selects no Pod', act: stage => service(stage) },
  {
    name: 'endpoints of pods that are not ready',
    script: brokenNeverReady,
    act: async stage => {
      await pods(stage, 2, 'broken')
      await service(stage)
    },
  },
  {
    name: 'endpoints of pods that are not ready, published',
    script: brokenNeverReady,
    act: async stage => {
      await pods(stage, 2, 'broken')
      await service(stage, { publishNotReadyAddresses: true })
    },
  },
  {
    name: 'endpoints of a headless service',
    act: async stage => {
      await pods(stage, 2)
      await service(stage, { clusterIP: 'None' })
    },
  },
  {
    name: 'endpoints of a headless service without ports',
    act: async stage => {
      await pods(stage, 1)
      await service(stage, { clusterIP: 'None', ports: null })
    },
  },
  {
    name: 'endpoints with a port by its name',
    act: async stage => {
      await pods(stage, 1)
      await service(stage, { ports: [{ port: 80, targetPort: 'nothing' }] })
    },
  },
  {
    name: 'endpoints follow the pods',
    act: async stage => {
      await pods(stage, 3)
      await service(stage)
      await stage.settle(1_000)
      await stage.patch(Deployment, 'web', { spec: { replicas: 1 } })
      await podsReady(stage, 1)
    },
  },
  {
    name: 'endpoints follow a pod that is replaced',
    act: async stage => {
      await pods(stage, 2)
      await service(stage)
      await stage.settle(1_000)
      await deleteOnePod(stage)
      await podsReady(stage, 2)
    },
  },
  {
    name: 'endpoints follow the service',
    act: async stage => {
      await pods(stage, 1)
      await service(stage)
      await stage.settle(1_000)
      await stage.patch(Service, 'web', {
        metadata: { labels: { of: 'other' } },
        spec: { ports: [{ name: 'x', port: 81 }] },
      })
    },
  },
  {
    name: 'endpoints of a selector that changes',
    act: async stage => {
      await pods(stage, 1)
      await service(stage)
      await stage.settle(1_000)
      await stage.patch(Service, 'web', { spec: { selector: { app: 'none' } } })
    },
  },
  {
    name: 'endpoints go with the service',
    act: async stage => {
      await pods(stage, 1)
      await service(stage)
      await stage.until('slices', async () => (await stage.list(EndpointSlice)).length > 0)
      await stage.remove(Service, 'web')
      await stage.until('no slices', async () => (await stage.list(EndpointSlice)).length === 0)
    },
  },
  {
    name: 'endpoints of a name elsewhere',
    act: stage =>
      stage.create(Service, 'web', { spec: { type: 'ExternalName', externalName: 'example.com' } }),
  },
  {
    name: 'endpoints by hand are mirrored',
    act: async stage => {
      await stage.create(Service, 'web', { spec: { ports: [{ port: 80 }] } })
      await stage.create(Endpoints, 'web', {
        metadata: { labels: { mine: 'x' }, annotations: { note: 'y' } },
        subsets: [
          {
            addresses: [{ ip: '10.9.9.9' }],
            notReadyAddresses: [{ ip: '10.9.9.8' }],
            ports: [{ port: 8080 }],
          },
        ],
      })
      await stage.until('a mirror', async () => (await stage.list(EndpointSlice)).length > 0)
    },
  },
  {
    name: 'endpoints by hand are no longer mirrored',
    act: async stage => {
      await stage.create(Service, 'web', { spec: { ports: [{ port: 80 }] } })
      const subsets = [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ port: 8080 }] }]
      await stage.create(Endpoints, 'web', { subsets })
      await stage.until('a mirror', async () => (await stage.list(EndpointSlice)).length > 0)
      await stage.patch(Endpoints, 'web', {
        metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      })
      await stage.until('no mirror', async () => (await stage.list(EndpointSlice)).length === 0)
    },
  },
  ...[
    { minAvailable: 1 },
    { minAvailable: '50%' },
    { maxUnavailable: 1 },
    { maxUnavailable: '100%' },
    { minAvailable: 5 },
  ].map(
    (spec): Scenario => ({
      name: `a budget: ${JSON.stringify(spec)}`,
      act: async stage => {
        await pods(stage, 3)
        await budget(stage, spec)
      },
    }),
  ),
  {
    name: 'a budget of pods that are not ready',
    script: brokenNeverReady,
    act: async stage => {
      await pods(stage, 2, 'broken')
      await budget(stage, { minAvailable: 1 })
    },
  },
  { name: 'a budget that selects no Pod', act: stage => budget(stage, { minAvailable: 1 }) },
  {
    name: 'a budget of pods without a controller',
    act: async stage => {
      await stage.create(Pod, 'alone', { metadata: { labels }, spec: podTemplate('one').spec })
      await podsReady(stage, 1)
      await budget(stage, { maxUnavailable: 1 })
    },
  },
  {
    name: 'a budget follows the pods',
    act: async stage => {
      await pods(stage, 3)
      await budget(stage, { minAvailable: 1 })
      await stage.settle(1_000)
      await stage.patch(Deployment, 'web', { spec: { replicas: 1 } })
      await podsReady(stage, 1)
    },
  },
  {
    name: 'quota of objects',
    act: async stage => {
      await stage.create(ConfigMap, 'one')
      await quota(stage, {
        hard: { configmaps: '5', 'count/deployments.apps': '2', services: '3', 'services.nodeports': '5' },
      })
      await stage.settle(1_000)
      await stage.create(ConfigMap, 'two')
      await stage.remove(ConfigMap, 'one')
      await service(stage, { type: 'NodePort' })
      // Deletions are counted when the quota is next synced: an annotation makes it sync.
      await stage.settle(1_000)
      await stage.patch(ResourceQuota, 'limit', { spec: { hard: { configmaps: '6' } } })
    },
  },
  {
    name: 'quota of pods',
    act: async stage => {
      await quota(stage, { hard: { pods: '3', 'limits.memory': '1Gi' } })
      await stage.settle(1_000)
      const { spec } = podTemplate('one')
      const containers = [{ name: 'c', image: 'i', resources: { limits: { memory: '100Mi' } } }]
      await stage.create(Pod, 'one', { spec: { ...spec, containers } })
      await stage.create(Pod, 'two', { spec: { ...spec, containers } })
    },
  },
  {
    name: 'quota with a scope',
    act: async stage => {
      await quota(stage, { hard: { pods: '3' }, scopes: ['BestEffort'] })
      await stage.settle(1_000)
      await stage.create(Pod, 'one', { metadata: { labels }, spec: podTemplate('one').spec })
    },
  },
]
