import { CronJob, Job } from '@coxswain/api/batch/v1'
import type { Scenario, Stage } from '../stage.ts'

const jobTemplate = {
  metadata: { labels: { by: 'tick' }, annotations: { note: 'x' } },
  spec: {
    template: {
      spec: { restartPolicy: 'Never', nodeName: 'node-a', containers: [{ name: 'c', image: 'i' }] },
    },
  },
}
const create = (stage: Stage, spec: object = {}) =>
  stage.create(CronJob, 'tick', { spec: { schedule: '* * * * *', jobTemplate, ...spec } })
/** The clock strikes within a minute; then it is stopped, so that it does not strike again. */
const struck = async (stage: Stage) => {
  const isNoted = async () => (await stage.get(CronJob, 'tick'))?.status?.lastScheduleTime
  await stage.until('it has struck', isNoted, 100_000)
  await stage.patch(CronJob, 'tick', { spec: { suspend: true } })
}
const finished = (stage: Stage) =>
  stage.until('the job has finished', async () =>
    (await stage.list(Job)).every(({ status }) =>
      status?.conditions?.some(({ status: is }) => is === 'True'),
    ),
  )

export const cronJobScenarios: readonly Scenario[] = [
  {
    name: 'makes a job that succeeds',
    script: () => 0,
    act: async stage => {
      await create(stage)
      await struck(stage)
      await finished(stage)
    },
  },
  {
    name: 'makes a job that goes on',
    act: async stage => {
      await create(stage, { concurrencyPolicy: 'Forbid', timeZone: 'Europe/Berlin' })
      await struck(stage)
    },
  },
  {
    name: 'keeps no job that succeeded',
    script: () => 0,
    // A controller whose cache is behind its own writes misses the job that it has just deleted.
    chanceEvents: /MissingJob/,
    act: async stage => {
      await create(stage, { successfulJobsHistoryLimit: 0 })
      await struck(stage)
      await stage.until('it is deleted', async () => (await stage.list(Job)).length === 0)
    },
  },
  { name: 'is suspended', act: stage => create(stage, { suspend: true }) },
  { name: 'is not due', act: stage => create(stage, { schedule: '0 0 29 2 *' }) },
]
