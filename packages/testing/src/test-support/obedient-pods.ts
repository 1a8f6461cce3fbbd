import { PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import { defineOperator, type Operator, type ReconcileContext, requeueAfter } from '@coxswain/runtime'

/** How long a pod takes to start, and to go. */
const startTime = 500
const stopTime = 1_000

/**
 * Pods that do as their image says: `broken` never gets ready, `failing` fails, any other runs. Pods that do not ask for
 * a node get one that is not there, so that they take their time to go. Claims go when no pod has them any more.
 */
export function createObedientPods(): Operator {
  return defineOperator('obedient-pods', operator => {
    operator
      .controller('obedient-pods')
      .for(Pod)
      .options({ concurrency: 10 })
      .reconcile(async context => {
        try {
          return await obey(context)
        } catch (error) {
          if (isConflict(error) || isNotFound(error)) return requeueAfter(10)
          throw error
        }
      })
    operator.controller('obedient-claims').for(PersistentVolumeClaim).reconcile(letGo)
  })
}

async function letGo({ client, key }: ReconcileContext) {
  const claim = await client.get(PersistentVolumeClaim, key)
  if (!claim?.metadata.deletionTimestamp) return
  const { items: pods } = await client.list(Pod, { namespace: key.namespace ?? '' })
  const isUsed = pods.some(({ spec }) =>
    spec.volumes?.some(volume => volume.persistentVolumeClaim?.claimName === key.name),
  )
  if (isUsed) return requeueAfter(startTime)
  await client.patch(PersistentVolumeClaim, key, { metadata: { finalizers: null } }, { type: 'merge' })
}

async function obey({ client, clock, key }: ReconcileContext) {
  const pod = await client.get(Pod, key)
  if (!pod || pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') return
  const { metadata, spec } = pod
  const now = clock.now()
  if (metadata.deletionTimestamp) {
    const grace = (metadata.deletionGracePeriodSeconds ?? 0) * 1_000
    const left = Date.parse(metadata.deletionTimestamp) - grace + stopTime - now
    if (left > 0) return requeueAfter(left)
    await client.delete(Pod, key, { gracePeriodSeconds: 0 })
    return
  }
  if (!spec.nodeName) {
    if (spec.affinity?.nodeAffinity) return
    const { name, namespace = '', uid } = metadata
    await client.direct.subresource(Pod, { name, namespace }, 'binding').create({
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { kind: 'Node', name: 'nowhere' },
    })
    return
  }
  if (pod.status?.phase === 'Running') return
  const left = Date.parse(metadata.creationTimestamp) + startTime - now
  if (left > 0) return requeueAfter(left)
  const image = spec.containers[0]?.image
  const isReady = image !== 'broken' && image !== 'failing'
  const condition = {
    type: 'Ready',
    status: isReady ? ('True' as const) : ('False' as const),
    lastTransitionTime: formatTime(now),
  }
  const phase = image === 'failing' ? ('Failed' as const) : ('Running' as const)
  await client.updateStatus(Pod, { ...pod, status: { ...pod.status, phase, conditions: [condition] } })
}
