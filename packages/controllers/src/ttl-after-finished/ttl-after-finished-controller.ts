import { Job } from '@coxswain/api/batch/v1'
import { isNotFound } from '@coxswain/apimachinery/status'
import { defineOperator, type Operator, requeueAfter } from '@coxswain/runtime'
import { finishedCondition, type JobView } from '../job/job-pods.ts'

/** Deletes Jobs when `ttlSecondsAfterFinished` has passed. */
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
        // The TTL may have been extended: read from the server, since a deletion cannot be undone.
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

/** When a job expires, in milliseconds; undefined if never. */
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
