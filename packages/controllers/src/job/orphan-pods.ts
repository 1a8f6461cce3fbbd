import { Job } from '@coxswain/api/batch/v1'
import { Pod } from '@coxswain/api/core/v1'
import { getControllerOf } from '@coxswain/apimachinery/meta'
import type { OperatorBuilder, ReconcileContext } from '@coxswain/runtime'
import { listPodKeysOf } from '../pods/pod-index.ts'
import { finishedCondition, isManagedElsewhere, isTracked } from './job-pods.ts'
import { removeTracking } from './manage-pods.ts'

/** Removes the tracking finalizer from pods that no job will count: their job is deleted or finished, or they were released. */
export function defineOrphanPods(operator: OperatorBuilder): void {
  operator
    .controller('job-orphan-pod')
    .for(Pod, { predicates: [({ type, object }) => type !== 'delete' && isTracked(object)] })
    .watches(Job, ({ metadata }, lookup) => listPodKeysOf(lookup, metadata.uid), {
      predicates: [({ type, object }) => type === 'delete' || finishedCondition(object) !== undefined],
    })
    .options({ concurrency: 5 })
    .reconcile(async context => {
      const pod = await context.client.get(Pod, context.key)
      if (pod && isTracked(pod) && (await isForgotten(context, pod)))
        await removeTracking(context.client, pod)
    })
}

async function isForgotten({ client, key }: ReconcileContext, pod: Parameters<typeof isTracked>[0]) {
  const controller = getControllerOf(pod)
  if (!controller) return true
  if (controller.kind !== 'Job' || controller.apiVersion !== 'batch/v1') return false
  const jobKey = { namespace: key.namespace ?? '', name: controller.name }
  const isOwner = (job: { readonly metadata: { readonly uid: string } } | undefined) =>
    job?.metadata.uid === controller.uid
  const cached = await client.get(Job, jobKey)
  // The caches of pods and jobs are not in step: only the server knows that a job is deleted.
  const job = isOwner(cached) ? cached : await client.get(Job, jobKey, { cached: false })
  if (!job || !isOwner(job)) return true
  return !isManagedElsewhere(job) && finishedCondition(job) !== undefined
}
