import { CronJob, Job } from '@coxswain/api/batch/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { bystanders, dropQuota, endNamespace, makeQuota } from './bystanders.ts'
import { type Action, type Draw, drawActions, type Family } from './draw.ts'
import { deletePod, disruptPod, evictPod, failPod, readyPod, unreadyPod } from './pods-by-hand.ts'
import { recreate } from './recreate.ts'

const patch = (say: string, spec: object): Action => ({
  say: `${say} ${JSON.stringify(spec)}`,
  run: stage => stage.patch(Job, 'work', { spec }),
})
const template = (image: string, restartPolicy = 'Never') => ({
  metadata: { labels: { app: 'web' } },
  spec: { restartPolicy, nodeName: 'node-a', containers: [{ name: 'c', image }] },
})
const images = ['one', 'one', 'broken', 'exit-0', 'exit-0', 'exit-1', 'exit-42']
const failurePolicies = [
  { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] },
  { rules: [{ action: 'Ignore', onExitCodes: { containerName: 'c', operator: 'In', values: [1] } }] },
  { rules: [{ action: 'Count', onExitCodes: { operator: 'NotIn', values: [42] } }] },
  { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] },
  { rules: [{ action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] },
]
const indexPolicy = { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } }] }
const successPolicies = [
  { rules: [{ succeededIndexes: '0' }] },
  { rules: [{ succeededCount: 1 }] },
  { rules: [{ succeededIndexes: '0-2', succeededCount: 2 }, { succeededIndexes: '1' }] },
]

function drawSpec(draw: Draw): object {
  const isIndexed = draw.chance(0.5)
  const completions = draw.pick(isIndexed ? [1, 2, 3, 4] : [undefined, undefined, 0, 1, 3])
  const image = draw.pick([
    ...images,
    ...(isIndexed ? ['odd-fails', 'odd-fails', 'first-succeeds'] : ['flaky']),
  ])
  const hasPolicy = draw.chance(0.4)
  const limits = isIndexed && draw.chance(0.4)
  return {
    ...(completions !== undefined && { completions }),
    parallelism: draw.below(4),
    ...(isIndexed && { completionMode: 'Indexed' }),
    backoffLimit: draw.pick([0, 0, 1, 6]),
    ...(limits && {
      backoffLimitPerIndex: draw.below(2),
      ...(draw.chance(0.5) && { maxFailedIndexes: draw.below(3) }),
    }),
    ...(isIndexed && draw.chance(0.3) && { successPolicy: draw.pick(successPolicies) }),
    ...(hasPolicy && {
      podFailurePolicy: draw.pick(limits ? [...failurePolicies, indexPolicy, indexPolicy] : failurePolicies),
    }),
    ...(draw.chance(0.3) && {
      podReplacementPolicy: hasPolicy ? 'Failed' : draw.pick(['TerminatingOrFailed', 'Failed']),
    }),
    ...(draw.chance(0.2) && { suspend: true }),
    ...(draw.chance(0.1) && { ttlSecondsAfterFinished: draw.pick([0, 4]) }),
    ...(draw.chance(0.1) && { activeDeadlineSeconds: 5 }),
    ...(draw.chance(0.1) && { managedBy: 'example.com/another' }),
    template: template(image, hasPolicy || draw.chance(0.8) ? 'Never' : 'OnFailure'),
  }
}
const create = (draw: Draw): Action => {
  const spec = drawSpec(draw)
  return { say: `create ${JSON.stringify(spec)}`, run: stage => stage.create(Job, 'work', { spec }) }
}

const makers: readonly ((draw: Draw) => Action)[] = [
  draw => patch('parallelism', { parallelism: draw.below(4) }),
  draw => {
    const count = draw.below(5)
    return patch('elastic', { parallelism: count, completions: count })
  },
  () => patch('suspend', { suspend: true }),
  () => patch('resume', { suspend: false }),
  () => patch('resume', { suspend: false }),
  draw => patch('limit', { backoffLimit: draw.below(4) }),
  draw => patch('deadline', { activeDeadlineSeconds: draw.pick([1, 30]) }),
  draw => patch('ttl', { ttlSecondsAfterFinished: draw.pick([0, 3, null]) }),
  draw => recreate(draw, Job as Kind, 'work', create),
  makeQuota,
  dropQuota,
  deletePod,
  deletePod,
  failPod,
  disruptPod,
  evictPod,
  unreadyPod,
  readyPod,
  ...bystanders,
]

export const jobs: Family = draw => ({
  actions: [create(draw), ...drawActions(draw, 5, makers), ...(draw.chance(0.1) ? endNamespace : [])],
})

/** The schedule is hourly; its last schedule time is set some hours back, so that it is due. */
const strike = (hours: number): Action => ({
  say: `last looked at ${hours} hours ago`,
  run: stage =>
    stage.patch(
      CronJob,
      'tick',
      {
        status: {
          lastScheduleTime: new Date(Date.now() - hours * 3_600_000).toISOString().replace(/\.\d+/, ''),
        },
      },
      'status',
    ),
})
const patchCron = (say: string, spec: object): Action => ({
  say: `${say} ${JSON.stringify(spec)}`,
  run: stage => stage.patch(CronJob, 'tick', { spec }),
})
const jobTemplate = (draw: Draw) => ({
  metadata: { labels: { by: 'tick' }, annotations: { note: 'x' } },
  spec: { backoffLimit: 0, template: template(draw.pick(['one', 'exit-0', 'exit-0', 'exit-1'])) },
})
const cronMakers: readonly ((draw: Draw) => Action)[] = [
  draw => strike(draw.pick([1.02, 2.02, 5.02, 200.02])),
  draw => strike(draw.pick([1.02, 2.02, 5.02, 200.02])),
  draw => strike(draw.pick([1.02, 2.02, 5.02, 200.02])),
  () => patchCron('suspend', { suspend: true }),
  () => patchCron('resume', { suspend: false }),
  draw => patchCron('policy', { concurrencyPolicy: draw.pick(['Allow', 'Forbid', 'Replace']) }),
  draw =>
    patchCron('history', {
      successfulJobsHistoryLimit: draw.below(2),
      failedJobsHistoryLimit: draw.below(2),
    }),
  draw => patchCron('deadline', { startingDeadlineSeconds: draw.pick([null, 10, 100_000]) }),
  draw => patchCron('zone', { timeZone: draw.pick([null, 'Etc/UTC', 'Europe/Berlin']) }),
  draw => patchCron('template', { jobTemplate: jobTemplate(draw) }),
  draw => {
    const nth = draw.below(3)
    return {
      say: `job ${nth} deleted`,
      run: async stage => {
        const job = (await stage.list(Job))[nth]
        if (job) await stage.remove(Job, job.metadata.name, { propagationPolicy: 'Background' })
      },
    }
  },
  deletePod,
  failPod,
]

export const cronJobs: Family = draw => {
  const spec = {
    schedule: '0 * * * *',
    concurrencyPolicy: draw.pick(['Allow', 'Forbid', 'Replace']),
    jobTemplate: jobTemplate(draw),
    ...(draw.chance(0.3) && { successfulJobsHistoryLimit: draw.below(2) }),
    ...(draw.chance(0.3) && { failedJobsHistoryLimit: draw.below(2) }),
    ...(draw.chance(0.3) && { startingDeadlineSeconds: draw.pick([10, 100_000]) }),
    ...(draw.chance(0.2) && { suspend: true }),
  }
  return {
    actions: [
      { say: `create ${JSON.stringify(spec)}`, run: stage => stage.create(CronJob, 'tick', { spec }) },
      ...drawActions(draw, 6, cronMakers),
      ...(draw.chance(0.1) ? endNamespace : []),
    ],
    // A controller whose cache is behind its own writes misses the job that it has just deleted.
    masks: { chanceEvents: /MissingJob/ },
  }
}
