import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CronJob, type CronJobSpec, Job } from '@coxswain/api/batch/v1'
import { Event } from '@coxswain/api/core/v1'
import { createCronJobController, createJobController } from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import { scenariosOf } from '@coxswain/testing/test-support/play'
import { createScriptedKubelet, type Script } from '@coxswain/testing/test-support/scripted-kubelet'

const namespace = 'default'
const key = { namespace, name: 'tick' }
const minute = 60_000
const hour = 60 * minute

const template = {
  spec: {
    backoffLimit: 0,
    template: {
      spec: { restartPolicy: 'Never', nodeName: 'node-a', containers: [{ name: 'c', image: 'i' }] },
    },
  },
}

const createCronJob = (cluster: Cluster, spec: Partial<CronJobSpec>) =>
  cluster.run(
    cluster.client.create(CronJob, { metadata: key, spec: { jobTemplate: template, ...spec } } as never),
  )

const patch = (cluster: Cluster, spec: object) =>
  cluster.run(cluster.client.patch(CronJob, key, { spec }, { type: 'merge' }))

const jobsOf = async (cluster: Cluster) => (await cluster.run(cluster.client.list(Job, { namespace }))).items

/** Advances to `ms` after a full hour. */
async function toHour(cluster: Cluster, ms = 0): Promise<void> {
  const now = cluster.env.clock.now()
  await cluster.advance(Math.ceil((now - ms) / hour) * hour + ms - now)
}

const eventsOf = async (cluster: Cluster) => {
  const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
  return items
    .filter(({ involvedObject }) => involvedObject.kind === 'CronJob')
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
}

/** The start minutes of the existing jobs, how many are active, and the status. */
async function look(cluster: Cluster) {
  const jobs = await jobsOf(cluster)
  const cronJob = await cluster.run(cluster.client.get(CronJob, key))
  const minuteOf = (time: string) => new Date(time).getUTCMinutes()
  const { active = [], lastScheduleTime, lastSuccessfulTime } = cronJob?.status ?? {}
  return {
    jobs: jobs
      .map(({ metadata }) => Number(metadata.name.replace('tick-', '')) % 60)
      .sort((a, b) => a - b)
      .join(),
    active: active.length,
    ...(lastScheduleTime && { last: minuteOf(lastScheduleTime) }),
    ...(lastSuccessfulTime && { successful: minuteOf(lastSuccessfulTime) }),
  }
}

interface Scenario {
  readonly name: string
  readonly spec: Partial<CronJobSpec>
  readonly script?: Script
  readonly act: (cluster: Cluster) => Promise<void>
  readonly end: object
}

/** Minutes to pass before the observation, less those that the scenario rests for. */
const untilMinute = (cluster: Cluster, count: number) => cluster.advance(count * minute - 10_000)

const scenarios: readonly Scenario[] = [
  {
    name: 'a job is started on schedule',
    spec: { schedule: '5 * * * *' },
    act: cluster => untilMinute(cluster, 8),
    end: { jobs: '5', active: 0, last: 5, successful: 5 },
  },
  {
    name: 'only the last jobs are kept',
    spec: { schedule: '1-8 * * * *', successfulJobsHistoryLimit: 2 },
    act: cluster => untilMinute(cluster, 12),
    end: { jobs: '7,8', active: 0, last: 8, successful: 8 },
  },
  {
    name: 'failed and successful jobs are kept separately',
    spec: { schedule: '1-4 * * * *', successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 1 },
    script: (_, nth) => nth % 2,
    act: cluster => untilMinute(cluster, 12),
    end: { jobs: '4', active: 0, last: 4, successful: 3 },
  },
  {
    name: 'jobs run concurrently',
    spec: { schedule: '1-3 * * * *', concurrencyPolicy: 'Allow' },
    script: () => 'runs',
    act: cluster => untilMinute(cluster, 12),
    end: { jobs: '1,2,3', active: 3, last: 3 },
  },
  {
    name: 'a job replaces the previous one',
    spec: { schedule: '1-3 * * * *', concurrencyPolicy: 'Replace' },
    script: () => 'runs',
    act: cluster => untilMinute(cluster, 12),
    end: { jobs: '3', active: 1, last: 3 },
  },
  {
    name: 'a suspended schedule starts nothing, and goes on later => a suspended schedule starts nothing, and resumes later',
    spec: { schedule: '1,20 * * * *', suspend: true, startingDeadlineSeconds: 30 },
    act: async cluster => {
      await untilMinute(cluster, 10)
      await patch(cluster, { suspend: false })
      await untilMinute(cluster, 15)
    },
    end: { jobs: '20', active: 0, last: 20, successful: 20 },
  },
  {
    name: 'a schedule that never fires',
    spec: { schedule: '0 0 31 2 *' },
    act: async cluster => {
      await untilMinute(cluster, 2)
      await patch(cluster, { schedule: '20 * * * *' })
      await untilMinute(cluster, 22)
    },
    end: { jobs: '20', active: 0, last: 20, successful: 20 },
  },
]

const operators = () => [createCronJobController(), createJobController()]

describe('CronJobs, also with conflicts, stale caches and the controllers killed between their writes', () => {
  const scenario = scenariosOf('cronjob-controller', { controllers: operators, look })

  for (const { name, spec, script = () => 0, act, end } of scenarios)
    scenario(name, {
      others: () => [createScriptedKubelet(script)],
      act: async cluster => {
        await toHour(cluster, 10_000)
        await createCronJob(cluster, spec)
        await act(cluster)
      },
      end,
    })
})

async function withCronJobs(script: Script, body: (cluster: Cluster) => Promise<void>): Promise<void> {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
  for (const operator of operators()) cluster.start(operator)
  cluster.start(createScriptedKubelet(script))
  await toHour(cluster, 10_000)
  await body(cluster)
}

describe('CronJobs', () => {
  it('record events, and name jobs after the minute', async () => {
    await withCronJobs(
      () => 0,
      async cluster => {
        await createCronJob(cluster, { schedule: '5 * * * *', timeZone: 'Asia/Kathmandu' })
        await cluster.advance(hour)
        const [job] = await jobsOf(cluster)
        const name = job!.metadata.name
        const scheduled = job!.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']
        // Kathmandu is 5:45 ahead: minute 5 there is minute 20 of UTC.
        assert.match(scheduled!, /:05:00\+05:45$/)
        assert.equal(Math.floor(Date.parse(scheduled!) / minute), Number(name.replace('tick-', '')))
        assert.equal(job!.metadata.ownerReferences?.[0]?.kind, 'CronJob')
        assert.deepEqual(await eventsOf(cluster), [
          `Normal SuccessfulCreate Created job ${name}`,
          `Normal SawCompletedJob Saw completed job: ${name}, condition: Complete`,
        ])
      },
    )
  })

  it('refer to the active jobs', async () => {
    await withCronJobs(
      () => 'runs',
      async cluster => {
        await createCronJob(cluster, { schedule: '1 * * * *' })
        await cluster.advance(2 * minute)
        const [job] = await jobsOf(cluster)
        const cronJob = await cluster.run(cluster.client.get(CronJob, key))
        const { name, uid } = job!.metadata
        const [reference] = cronJob?.status?.active ?? []
        const { resourceVersion, ...rest } = reference!
        assert.deepEqual(rest, { apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid })
        assert.ok(resourceVersion)
      },
    )
  })

  for (const concurrencyPolicy of ['Replace', 'Forbid'] as const)
    it(`never have two unfinished jobs of the schedule with ${concurrencyPolicy}, even if the status lost one`, async () => {
      await withCronJobs(
        () => 'runs',
        async cluster => {
          const { client } = cluster
          await createCronJob(cluster, { schedule: '1-59 * * * *', concurrencyPolicy })
          await cluster.advance(minute)
          const [first] = await jobsOf(cluster)
          const { resourceVersion: _, uid: __, annotations: ___, ...metadata } = first!.metadata
          const byHand = { metadata: { ...metadata, name: 'by-hand' }, spec: template.spec }
          await cluster.run(client.create(Job, byHand as never))
          for (let nth = 1; nth <= 4; nth++) {
            // As if the controller had been killed before it recorded the job that it started.
            const forget = { status: { active: null } }
            await cluster.run(client.patch(CronJob, key, forget, { type: 'merge', subresource: 'status' }))
            await cluster.advance(minute)
            const names = (await jobsOf(cluster)).map(job => job.metadata.name)
            assert.equal(names.length, 2, names.join())
            assert.ok(names.includes('by-hand'))
            assert.equal(names.includes(first!.metadata.name), concurrencyPolicy === 'Forbid')
          }
        },
      )
    })

  it('with Forbid do not start a job while another runs, and catch up once it is finished', async () => {
    await withCronJobs(
      () => 'runs',
      async cluster => {
        await createCronJob(cluster, { schedule: '1-59 * * * *', concurrencyPolicy: 'Forbid' })
        await cluster.advance(5 * minute)
        const [job, ...others] = await jobsOf(cluster)
        assert.equal(others.length, 0)
        const refusal =
          'Normal JobAlreadyActive Not starting job because prior execution is running and concurrency policy is Forbid'
        assert.ok((await eventsOf(cluster)).includes(refusal))
        const name = job!.metadata.name
        await cluster.run(
          cluster.client.delete(Job, { namespace, name }, { propagationPolicy: 'Background' }),
        )
        await cluster.advance(5_000)
        assert.ok((await eventsOf(cluster)).includes(`Normal MissingJob Active job went missing: ${name}`))
        assert.equal((await jobsOf(cluster)).filter(({ metadata }) => metadata.name !== name).length, 1)
      },
    )
  })

  it('start the last of many missed runs, and report that', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
    await toHour(cluster, 10_000)
    await createCronJob(cluster, { schedule: '* * * * *' })
    await cluster.advance(5 * hour)
    for (const operator of operators()) cluster.start(operator)
    await cluster.advance(5_000)
    assert.equal((await jobsOf(cluster)).length, 1)
    assert.match(
      (await eventsOf(cluster)).join('\n'),
      /Warning TooManyMissedTimes too many missed start times/,
    )
  })

  it('skip a run that is past its deadline', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
    await toHour(cluster, 10_000)
    await createCronJob(cluster, { schedule: '1 * * * *', startingDeadlineSeconds: 60 })
    await cluster.advance(10 * minute)
    for (const operator of operators()) cluster.start(operator)
    await cluster.advance(5_000)
    assert.equal((await jobsOf(cluster)).length, 0)
    await cluster.advance(hour)
    assert.equal((await jobsOf(cluster)).length, 1)
  })

  it('do not catch up runs that a new schedule would have had', async () => {
    await withCronJobs(
      () => 0,
      async cluster => {
        await createCronJob(cluster, { schedule: '59 * * * *' })
        await cluster.advance(20 * minute)
        await patch(cluster, { schedule: '*/10 * * * *' })
        await cluster.advance(5 * minute)
        assert.equal((await jobsOf(cluster)).length, 0)
        await cluster.advance(6 * minute)
        assert.equal((await jobsOf(cluster)).length, 1)
      },
    )
  })
})
