import { Job } from '@coxswain/api/batch/v1'
import { isNotFound } from '@coxswain/apimachinery/status'
import { defineOperator, type Operator, requeueAfter } from '@coxswain/runtime'
import { finishedCondition, type JobView } from '../job/job-pods.ts'

/** Deletes jobs that have been over for as long as they say. */
export function createTtlAfterFinishedController(): Operator {
  return defineOperator('ttl-after-finished-controller', operator => {
    operator
      .controller('ttl-after-finished')
      .for(Job, { predicates: [({ type, object }) => type !== 'delete' && expiry(object) !== undefined] })
      .options({ concurrency: 5 })
      .reconcile(async ({ client, key, clock }) => {
        const job = await client.get(Job, key)
        const left = job && untilExpired(job, clock.now())
        if (left === undefined) return
        if (left > 0) return requeueAfter(left)
        // Somebody may have given it more time: that must not be overlooked, since there is no way back.
        const fresh = await client.get(Job, key, { cached: false })
        const reallyLeft = fresh && untilExpired(fresh, clock.now())
        if (reallyLeft === undefined) return
        if (reallyLeft > 0) return requeueAfter(reallyLeft)
        const { uid, resourceVersion = '' } = fresh!.metadata
        try {
          await client.delete(Job, key, {
            propagationPolicy: 'Foreground',
            preconditions: { uid, resourceVersion },
          })
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
      })
  })
}

/** When a job may go, in milliseconds; undefined when it stays. */
function expiry(job: JobView): number | undefined {
  const ttl = job.spec?.ttlSecondsAfterFinished
  const finished = finishedCondition(job)?.lastTransitionTime
  if (ttl === undefined || !finished || job.metadata.deletionTimestamp) return undefined
  return Date.parse(finished) + ttl * 1_000
}

function untilExpired(job: JobView, now: number): number | undefined {
  const at = expiry(job)
  return at === undefined ? undefined : at - now
}
