import { Job } from '@coxswain/api/batch/v1'
import { Pod } from '@coxswain/api/core/v1'
import { findStatusCondition, getControllerOf } from '@coxswain/apimachinery/meta'
import { formatTime } from '@coxswain/apimachinery/time'
import { type PodView, podSelectorOf, setCondition } from '@coxswain/kinds'
import {
  defineOperator,
  generationChanged,
  type MapFunction,
  type Operator,
  type OperatorClient,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { createExponentialLimiter } from '@coxswain/workqueue'
import { claimObjects } from '../pods/claim.ts'
import { minInterval } from '../pods/pace.ts'
import { indexPods, listPodsFor } from '../pods/pod-index.ts'
import { type BackOff, backOffAfter, noBackOff } from './back-off.ts'
import { completionsReached, type Ending, findEnding, untilDeadline } from './ending.ts'
import {
  finishedCondition,
  isManagedElsewhere,
  isSuspended,
  type JobView,
  trackingFinalizer,
} from './job-pods.ts'
import { deletePods, managePods } from './manage-pods.ts'
import { defineOrphanPods } from './orphan-pods.ts'
import { type Tally, tallyPods } from './tally.ts'
import {
  addInterimCondition,
  conditionOf,
  type Draft,
  draftOf,
  noteIndexes,
  track,
  writeStatus,
} from './tracking.ts'

/** Milliseconds for which pod changes are batched before their job is reconciled. */
const batchPeriod = 1_000

/** What the controller remembers of a job between reconciliations. */
interface Memory {
  readonly uid: string
  readonly backOff: BackOff
}

/** Runs the pods of Jobs until enough have succeeded or too many have failed. */
export function createJobController(): Operator {
  return defineOperator('job-controller', operator => {
    const memories = new Map<string, Memory>()
    indexPods(operator)
    operator
      .controller('job')
      .for(Job, { predicates: [generationChanged] })
      .watches(Job, ({ metadata: { namespace = '', name } }) => [{ namespace, name }], { delay: batchPeriod })
      .owns(Pod, { delay: batchPeriod })
      .watches(Pod, orphansToJobs, { delay: batchPeriod })
      .options({
        eventSource: 'job-controller',
        concurrency: 5,
        minInterval,
        rateLimiter: () => createExponentialLimiter({ base: 1_000, cap: 60_000 }),
      })
      .reconcile(context => reconcile(context, memories))
    defineOrphanPods(operator)
  })
}

/** Maps an orphaned pod to every Job that selects it. */
const orphansToJobs: MapFunction<Pod> = (pod, lookup) => {
  const { namespace = '', labels = {}, deletionTimestamp } = pod.metadata
  if (getControllerOf(pod) || deletionTimestamp || Object.keys(labels).length === 0) return []
  return lookup
    .list(Job, { namespace })
    .filter(job => !finishedCondition(job) && podSelectorOf(job).matches(labels))
    .map(({ metadata }) => ({ namespace, name: metadata.name }))
}

async function reconcile(context: ReconcileContext, memories: Map<string, Memory>): Promise<ReconcileResult> {
  const { client, key } = context
  const id = `${key.namespace}/${key.name}`
  const job = await client.get(Job, key)
  if (!job || isManagedElsewhere(job) || finishedCondition(job)) {
    memories.delete(id)
    return
  }
  const { uid } = job.metadata
  const known = memories.get(id)
  const backOff = known?.uid === uid ? known.backOff : noBackOff
  const wait = await sync(context, job, backOff, after => memories.set(id, { uid, backOff: after }))
  return wait < Number.POSITIVE_INFINITY ? requeueAfter(Math.max(wait, batchPeriod)) : undefined
}

/** Resolves with the milliseconds after which the job has to be reconciled even without changes. */
async function sync(
  context: ReconcileContext,
  before: JobView,
  known: BackOff,
  remember: (backOff: BackOff) => void,
): Promise<number> {
  const { client, clock, events } = context
  let job = before
  const tally = tallyPods(job, await claimPods(client, job))
  const backOff = backOffAfter(known, tally.newSucceeded, tally.newFailed)
  const now = clock.now()
  const draft = draftOf(job)
  noteIndexes(draft, tally)
  if (!isSuspended(job)) draft.startTime ??= formatTime(now)
  let found = findEnding(job, tally, draft.startTime, now)
  if (found && !found.isReported && tally.active.length > 0) {
    // Reported before pods are deleted: without them it could not be determined again.
    addInterimCondition(draft, found, now)
    found = { ...found, isReported: true }
    job = await writeStatus(client, job, draft)
  }
  const isTerminating = job.metadata.deletionTimestamp !== undefined
  const managed = found
    ? await deletePods(context, job, tally, tally.active, 'tracked')
    : isTerminating
      ? { active: tally.active.length, ready: tally.ready, terminating: tally.terminating }
      : await managePods(context, job, tally, backOff)
  const { active, ready, terminating, error, wait = Number.POSITIVE_INFINITY } = managed
  Object.assign(draft, { active, ready, terminating })
  const ending = found ? (active === 0 ? found : undefined) : findCompletion(job, tally, active)
  const change = found || ending || isTerminating ? undefined : noteSuspension(job, draft, now)
  const tracked = await track(context, { job, tally, ending, draft }, () => {
    remember(backOff)
    if (change) events.normal(job, change.reason, change.message)
  })
  if (tracked.isOver && ending) announce(context, tracked.job, ending)
  if (error !== undefined) throw error
  return tracked.isOver ? Number.POSITIVE_INFINITY : Math.min(wait, untilDeadline(job, draft.startTime, now))
}

async function claimPods(client: OperatorClient, job: JobView): Promise<PodView[]> {
  const claim = {
    client,
    kind: Pod,
    ownerKind: Job,
    owner: job,
    selector: podSelectorOf(job),
    finalizers: [trackingFinalizer],
  }
  return await claimObjects(claim, await listPodsFor(client, job))
}

function findCompletion({ spec }: JobView, { succeeded }: Tally, active: number): Ending | undefined {
  const isEnough = spec?.completions === undefined ? succeeded > 0 : succeeded >= spec.completions
  return isEnough && active === 0 ? completionsReached : undefined
}

/** Updates the Suspended condition; returns the event to record if it changed. */
function noteSuspension(job: JobView, draft: Draft, now: number) {
  const suspended = isSuspended(job)
  const present = findStatusCondition(draft.conditions, 'Suspended')
  const status = suspended ? 'True' : 'False'
  if (present ? present.status === status : !suspended) return undefined
  const reason = suspended ? 'Suspended' : 'Resumed'
  const message = suspended ? 'Job suspended' : 'Job resumed'
  const condition = conditionOf('Suspended', status, { reason: `Job${reason}`, message }, now)
  draft.conditions = setCondition(draft.conditions, condition)
  // Resuming a job restarts its active deadline.
  if (suspended) delete draft.startTime
  else draft.startTime = formatTime(now)
  return { reason, message }
}

function announce({ events }: ReconcileContext, job: JobView, ending: Ending): void {
  if (!ending.isSuccess) {
    events.warning(job, ending.reason, ending.message)
    return
  }
  const { spec, status } = job
  if (spec?.completions !== undefined && (status?.succeeded ?? 0) > spec.completions)
    events.warning(
      job,
      'TooManySucceededPods',
      'Too many succeeded pods running after completion count reached',
    )
  events.normal(job, 'Completed', 'Job completed')
}
