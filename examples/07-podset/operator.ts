/** Two kinds that can be scaled: a PodSet keeps as many Pods as its spec says, and a CronTab only says how many it has. */
import { Pod } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import {
  type DeepReadonly,
  defineKind,
  defineOperator,
  isControlledBy,
  type KindOf,
  newControllerReference,
  s,
  slowStart,
} from 'coxswain'

export const PodSet = defineKind({
  group: 'app.example.com',
  kind: 'PodSet',
  versions: {
    v1alpha1: {
      spec: s.object({
        replicas: s.int32({ minimum: 0 }).default(1),
        image: s.string({ minLength: 1 }).default('busybox'),
      }),
      status: s.object({
        replicas: s.int32().optional(),
        readyReplicas: s.int32().optional(),
        podNames: s.list(s.string()).optional(),
        selector: s.string().optional(),
      }),
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
      columns: { Desired: '.spec.replicas', Current: '.status.replicas', Ready: '.status.readyReplicas' },
    },
  },
})
export type PodSet = KindOf<typeof PodSet.v1alpha1>

export const CronTab = defineKind({
  group: 'stable.example.com',
  kind: 'CronTab',
  shortNames: ['ct'],
  versions: {
    v1: {
      spec: s.object({
        cronSpec: s.string().optional(),
        image: s.string().optional(),
        replicas: s.int32({ minimum: 0 }).default(1),
      }),
      status: s.object({ replicas: s.int32().optional(), labelSelector: s.string().optional() }),
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.labelSelector',
      },
      columns: { Spec: '.spec.cronSpec', Replicas: '.spec.replicas' },
    },
  },
})

/** A Pod that has ended is none of those that are wanted. */
const isAlive = (pod: DeepReadonly<Pod>): boolean =>
  !pod.metadata.deletionTimestamp && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed'

const isReady = (pod: DeepReadonly<Pod>): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

/** Those that can be missed best come first: not ready before ready, young before old. */
const byWorth = (a: DeepReadonly<Pod>, b: DeepReadonly<Pod>): number =>
  Number(isReady(a)) - Number(isReady(b)) ||
  Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp)

export default defineOperator('podset', operator => {
  operator
    .controller('podset')
    .for(PodSet.v1alpha1)
    .owns(Pod)
    .reconcile(async ({ key, client }) => {
      const podSet = await client.get(PodSet.v1alpha1, key)
      if (!podSet || podSet.metadata.deletionTimestamp) return
      const labels = { podset: key.name }
      const selector = `podset=${key.name}`
      const { namespace = 'default' } = key
      const listed = await client.list(Pod, { namespace, labelSelector: selector })
      const pods = listed.items.filter(pod => isControlledBy(pod, podSet) && isAlive(pod))

      const missing = podSet.spec.replicas - pods.length
      if (missing > 0) {
        const metadata = {
          namespace,
          generateName: `${key.name}-`,
          labels,
          ownerReferences: [newControllerReference(podSet)],
        }
        // An autoscaler with a percentage as its target takes it of the request.
        const resources = { requests: { cpu: '100m' } }
        const containers = [{ name: 'main', image: podSet.spec.image, command: ['sleep', '3600'], resources }]
        // One, two, four at a time: when the server refuses one it is not asked for a thousand.
        const { error } = await slowStart(missing, () =>
          client.create(Pod, { metadata, spec: { containers } }),
        )
        if (error) throw error
        return // what was made is an event
      }
      if (missing < 0) {
        for (const { metadata } of pods.toSorted(byWorth).slice(0, -missing)) {
          const { name, uid } = metadata
          await client.delete(Pod, { namespace, name }, { preconditions: { uid } })
        }
        return // and so is what was deleted
      }

      const status = {
        replicas: pods.length,
        readyReplicas: pods.filter(isReady).length,
        podNames: pods.map(pod => pod.metadata.name).sort(),
        selector,
      }
      if (deepEqual(podSet.status, status)) return
      await client.updateStatus(PodSet.v1alpha1, { ...podSet, status })
    })

  operator
    .controller('crontab')
    .for(CronTab.v1)
    .reconcile(async ({ key, client }) => {
      const cronTab = await client.get(CronTab.v1, key)
      if (!cronTab) return
      const status = { replicas: cronTab.spec.replicas, labelSelector: `crontab=${key.name}` }
      if (cronTab.status?.replicas === status.replicas && cronTab.status.labelSelector) return
      await client.updateStatus(CronTab.v1, { ...cronTab, status })
    })
})
