import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Job } from '@coxswain/api/batch/v1'
import { Event } from '@coxswain/api/core/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { type CreateOf, toCustomResourceDefinition } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { CronJob, scheduledAt } from './operator.ts'

const readFile = (name: string) => readYaml(readFileSync(new URL(name, import.meta.url)))?.value
const sample = readFile('./sample.yaml') as CreateOf<typeof CronJob.v1>
type Spec = typeof sample.spec
const namespace = 'default'
const key = { namespace, name: 'cronjob-sample' }
const minute = 60_000

async function launch() {
  const cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
  const { client, run } = cluster
  await cluster.install(operator)
  const stop = cluster.start(operator)
  await cluster.advance(5_000) // the server knows the webhooks by now
  const jobs = async () =>
    (await run(client.list(Job, { namespace }))).items.toSorted((a, b) =>
      a.metadata.name.localeCompare(b.metadata.name),
    )
  return {
    ...cluster,
    stop,
    jobs,
    create: (given: Partial<Spec> = {}, name = key.name) =>
      run(client.create(CronJob.v1, { metadata: { namespace, name }, spec: { ...sample.spec, ...given } })),
    get: () => run(client.get(CronJob.v1, key)),
    change: (spec: object) => run(client.patch(CronJob.v1, key, { spec }, { type: 'merge' })),
    /** What the Job controller reports. */
    async finish(job: Job, type: 'Complete' | 'Failed' = 'Complete') {
      const time = new Date(cluster.env.clock.now()).toISOString().replace(/\.\d+/, '')
      const condition = (name: string) => ({
        type: name,
        status: 'True' as const,
        lastProbeTime: time,
        lastTransitionTime: time,
      })
      const before = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget'
      const conditions = [condition(before), condition(type)]
      const completion = type === 'Complete' && { completionTime: time, succeeded: 1 }
      const startTime = job.metadata.creationTimestamp
      await run(client.updateStatus(Job, { ...job, status: { startTime, conditions, ...completion } }))
      await cluster.advance(1_000)
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

describe("the tutorial's CronJob", () => {
  it('creates one Job an execution, named after its time, annotated with it and owned', async () => {
    await using cluster = await launch()
    await cluster.create()
    await cluster.advance(2 * minute)
    const jobs = await cluster.jobs()
    assert.equal(jobs.length, 2)
    for (const job of jobs) {
      const at = job.metadata.annotations?.[scheduledAt] ?? ''
      assert.equal(job.metadata.name, `${key.name}-${Date.parse(at) / 1_000}`)
      assert.equal(Date.parse(at) % minute, 0)
      assert.equal(job.metadata.ownerReferences?.[0]?.controller, true)
      assert.equal(job.spec?.template.spec?.containers[0]?.image, 'busybox')
    }
    const status = (await cluster.get())?.status
    assert.deepEqual(
      status?.active?.map(({ kind, name }) => `${kind} ${name}`).sort(),
      jobs.map(({ metadata }) => `Job ${metadata.name}`),
    )
    assert.equal(status?.lastScheduleTime, jobs[1]?.metadata.annotations?.[scheduledAt])
  })

  it('keeps as many Jobs that have ended as the history limits say', async () => {
    await using cluster = await launch()
    await cluster.create({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 })
    for (const type of ['Complete', 'Failed', 'Complete', 'Failed', 'Complete'] as const) {
      await cluster.advance(minute)
      const active = (await cluster.jobs()).find(job => !job.status?.conditions)
      assert.ok(active)
      await cluster.finish(active, type)
    }
    await cluster.change({ suspend: true })
    await cluster.advance(minute)
    const outcomes = (await cluster.jobs()).map(({ status }) => status?.conditions?.at(-1)?.type)
    assert.deepEqual(outcomes, ['Complete', 'Failed', 'Complete'])
  })

  it('is suspended and resumed', async () => {
    await using cluster = await launch()
    await cluster.create({ suspend: true })
    await cluster.advance(3 * minute)
    assert.deepEqual(await cluster.jobs(), [])
    await cluster.change({ suspend: false })
    await cluster.advance(minute)
    assert.ok((await cluster.jobs()).length >= 1)
  })

  it('Forbid waits for the Job that runs', async () => {
    await using cluster = await launch()
    await cluster.create({ concurrencyPolicy: 'Forbid' })
    await cluster.advance(3 * minute)
    const [job, ...others] = await cluster.jobs()
    assert.ok(job)
    assert.deepEqual(others, [])
    await cluster.finish(job)
    await cluster.advance(minute)
    assert.equal((await cluster.jobs()).length, 2)
  })

  it('Replace deletes the Job that runs', async () => {
    await using cluster = await launch()
    await cluster.create({ concurrencyPolicy: 'Replace' })
    await cluster.advance(minute)
    const [first] = await cluster.jobs()
    assert.ok(first)
    await cluster.advance(minute)
    const jobs = await cluster.jobs()
    const running = jobs.filter(({ metadata }) => !metadata.deletionTimestamp)
    assert.equal(running.length, 1)
    assert.notEqual(running[0]?.metadata.uid, first.metadata.uid)
  })

  it('starts the latest execution that it missed, unless the deadline has passed', async () => {
    await using cluster = await launch()
    await cluster.create({ schedule: '0 * * * *', startingDeadlineSeconds: 600 })
    await cluster.stop()
    await cluster.advance(65 * minute)
    cluster.start(operator)
    await cluster.advance(1_000)
    assert.equal((await cluster.jobs()).length, 1, 'five minutes late')

    await using late = await launch()
    await late.create({ schedule: '0 * * * *', startingDeadlineSeconds: 60 })
    await late.stop()
    await late.advance(65 * minute)
    late.start(operator)
    await late.advance(1_000)
    assert.deepEqual(await late.jobs(), [])
  })

  it('does nothing when it missed more than a hundred executions, and says so', async () => {
    await using cluster = await launch()
    const { startingDeadlineSeconds: _, ...spec } = sample.spec
    await cluster.run(cluster.client.create(CronJob.v1, { metadata: key, spec }))
    await cluster.stop()
    await cluster.advance(102 * minute)
    cluster.start(operator)
    await cluster.advance(1_000)
    assert.deepEqual(await cluster.jobs(), [])
    const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
    assert.ok(items.some(({ message }) => message?.includes('too many missed start times (> 100)')))
  })

  it('is defaulted by a webhook', async () => {
    await using cluster = await launch()
    const { concurrencyPolicy: _, ...spec } = sample.spec
    const made = await cluster.run(cluster.client.create(CronJob.v1, { metadata: key, spec }))
    const { concurrencyPolicy, suspend, successfulJobsHistoryLimit, failedJobsHistoryLimit } = made.spec
    assert.deepEqual(
      [concurrencyPolicy, suspend, successfulJobsHistoryLimit, failedJobsHistoryLimit],
      ['Allow', false, 3, 1],
    )
  })

  it('is validated by a webhook', async () => {
    await using cluster = await launch()
    await assert.rejects(cluster.create({ schedule: 'every day' }), {
      reason: 'Invalid',
      message: /spec.schedule: Invalid value: "every day"/,
    })
    await assert.rejects(cluster.create({}, 'x'.repeat(53)), {
      reason: 'Invalid',
      message: /metadata.name: Invalid value: "x+": must be no more than 52 characters/,
    })
    await cluster.create()
    await assert.rejects(cluster.change({ schedule: '61 * * * *' }), { reason: 'Invalid' })
  })

  it('ships the definition that its kind gives', () => {
    assert.deepEqual(readFile('./crd.yaml'), JSON.parse(JSON.stringify(toCustomResourceDefinition(CronJob))))
  })
})
