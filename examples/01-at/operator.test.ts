import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { Event, Pod } from '@coxswain/api/core/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { findStatusCondition, toCustomResourceDefinition } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { At, finalizer } from './operator.ts'

const key = { namespace: 'default', name: 'cnrex' }
const podKey = { namespace: 'default', name: 'cnrex-pod' }
const containers = [{ name: 'shell', image: 'busybox', command: ['echo', 'Kubernetes native rocks!'] }]

/** A cluster on a clock of its own with the operator in it, and words for what the tests do with it. */
async function launch(options: { seed?: number; nodes?: number; onStep?: (line: string) => void } = {}) {
  const { seed = 1, nodes = 0, onStep } = options
  const world = new VirtualWorld({ seed, onStep: ({ time, label }) => onStep?.(`${time} ${label}`) })
  const cluster = await startCluster({ env: world, nodes })
  const { client, run } = cluster
  await run(client.create(CustomResourceDefinition, toCustomResourceDefinition(At)))
  cluster.start(operator)
  await cluster.settle()
  const inTime = (delay: number) => new Date(world.clock.now() + delay).toISOString()
  return {
    cluster,
    inTime,
    schedule: (schedule: string) =>
      run(client.create(At.v1alpha1, { metadata: key, spec: { schedule, containers } })),
    at: () => run(client.get(At.v1alpha1, key)),
    pod: () => run(client.get(Pod, podKey)),
    /** The end of a pod, as a kubelet reports it. */
    async endPod(phase: 'Succeeded' | 'Failed') {
      const pod = await run(client.get(Pod, podKey))
      assert.ok(pod)
      await run(client.updateStatus(Pod, { ...pod, status: { ...pod.status, phase } }))
      await cluster.settle()
    },
    async condition(type: string) {
      const { status, reason } = findStatusCondition((await this.at())?.status?.conditions, type) ?? {}
      return `${status} ${reason}`
    },
    async reasons() {
      const { items } = await run(client.list(Event, { namespace: 'default' }))
      const ours = items.filter(({ involvedObject }) => involvedObject.kind === 'At')
      return ours.map(({ type, reason }) => `${type} ${reason}`).sort()
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

/** The whole voyage; returns everything that was handed over, in order. */
async function sail(seed: number, delay: number): Promise<readonly string[]> {
  const log: string[] = []
  await using ship = await launch({ seed, nodes: 1, onStep: line => log.push(line) })
  const { cluster } = ship
  await ship.schedule(ship.inTime(delay))
  const seen: (string | undefined)[] = []
  for (let i = 0; i < 100 && seen.at(-1) !== 'DONE'; i++) {
    await cluster.advance(100)
    const phase = (await ship.at())?.status?.phase
    if (seen.at(-1) !== phase) seen.push(phase)
  }
  assert.deepEqual(seen, ['PENDING', 'RUNNING', 'DONE'])
  const pod = await ship.pod()
  assert.equal(pod?.status?.phase, 'Succeeded')
  assert.equal(pod.metadata.ownerReferences?.[0]?.kind, 'At')
  assert.equal(await ship.condition('Scheduled'), 'True Accepted')
  assert.equal(await ship.condition('Finished'), 'True PodSucceeded')
  assert.deepEqual(await ship.reasons(), ['Normal Finished', 'Normal Scheduled', 'Normal Started'])

  await cluster.run(cluster.client.delete(At.v1alpha1, key))
  await cluster.advance(10_000)
  assert.equal(await ship.at(), undefined)
  assert.equal(await ship.pod(), undefined, 'the pod goes with its owner')
  return log
}

describe('the at operator', () => {
  it('runs the pod when it is due, follows it to its end, and takes it along when it goes', async () => {
    await sail(1, 1_500)
  })

  it('gives the same event log from the same seed, and another one from another seed', async () => {
    const first = await sail(7, 500)
    assert.deepEqual(await sail(7, 500), first)
    assert.notDeepEqual(await sail(8, 500), first)
    assert.ok(first.length > 100)
  })

  it('starts nothing before its time', async () => {
    await using ship = await launch()
    await ship.schedule(ship.inTime(3_600_000))
    await ship.cluster.advance(3_599_000)
    assert.equal(await ship.pod(), undefined)
    assert.equal((await ship.at())?.status?.phase, 'PENDING')
    await ship.cluster.advance(2_000)
    assert.ok(await ship.pod())
    assert.equal((await ship.at())?.status?.phase, 'RUNNING')
  })

  it('runs what was due long ago at once', async () => {
    await using ship = await launch()
    await ship.schedule('2019-07-03T02:00:00Z')
    await ship.cluster.advance(1)
    assert.equal((await ship.at())?.status?.phase, 'RUNNING')
    assert.equal(await ship.condition('Finished'), 'False PodRunning')
  })

  it('follows a schedule that is changed while it waits', async () => {
    await using ship = await launch()
    const { client, run, advance } = ship.cluster
    await ship.schedule(ship.inTime(3_600_000))
    await advance(1_000)
    const change = { spec: { schedule: ship.inTime(5_000) } }
    await run(client.patch(At.v1alpha1, key, change, { type: 'merge' }))
    await advance(4_000)
    assert.equal(await ship.pod(), undefined)
    await advance(2_000)
    assert.ok(await ship.pod())
  })

  it('says of a bad schedule that it is bad, once, and runs it when it is mended', async () => {
    await using ship = await launch()
    const { client, run, advance } = ship.cluster
    await ship.schedule('tomorrow, perhaps')
    await advance(1_800_000)
    assert.equal((await ship.at())?.status?.phase, 'PENDING')
    assert.equal(await ship.condition('Scheduled'), 'False BadSchedule')
    assert.deepEqual(await ship.reasons(), ['Warning BadSchedule'])
    assert.equal(await ship.pod(), undefined)

    const mended = { spec: { schedule: ship.inTime(0) } }
    await run(client.patch(At.v1alpha1, key, mended, { type: 'merge' }))
    await advance(1_000)
    assert.equal(await ship.condition('Scheduled'), 'True Accepted')
    assert.equal((await ship.at())?.status?.phase, 'RUNNING')
  })

  for (const schedule of ['', '2026-02-30T00:00:00Z', '2026-04-01 12:00:00', '1774958400', 'now']) {
    it(`takes ${JSON.stringify(schedule)} for no time`, async () => {
      await using ship = await launch()
      await ship.schedule(schedule)
      await ship.cluster.advance(1_000)
      assert.equal(await ship.condition('Scheduled'), 'False BadSchedule')
    })
  }

  it('is done when the pod has failed, too', async () => {
    await using ship = await launch()
    await ship.schedule(ship.inTime(0))
    await ship.cluster.advance(1_000)
    await ship.endPod('Failed')
    assert.equal((await ship.at())?.status?.phase, 'DONE')
    assert.equal(await ship.condition('Finished'), 'True PodFailed')
  })

  it('never runs a pod twice: one that is deleted before its end stays gone', async () => {
    await using ship = await launch()
    const { client, run, advance } = ship.cluster
    await ship.schedule(ship.inTime(0))
    await advance(1_000)
    await run(client.delete(Pod, podKey))
    await advance(60_000)
    assert.equal(await ship.pod(), undefined)
    assert.equal((await ship.at())?.status?.phase, 'DONE')
    assert.equal(await ship.condition('Finished'), 'True PodDeleted')
  })

  it('does not touch a Pod of its name that it does not own', async () => {
    await using ship = await launch()
    const { client, run, advance } = ship.cluster
    await run(client.create(Pod, { metadata: podKey, spec: { containers } }))
    await ship.schedule(ship.inTime(0))
    await advance(1_000)
    assert.equal(await ship.condition('Finished'), 'False NameTaken')
    await run(client.delete(At.v1alpha1, key))
    await advance(1_000)
    assert.equal(await ship.at(), undefined)
    assert.ok(await ship.pod())
  })

  it('goes only when its pod has gone', async () => {
    await using ship = await launch()
    const { client, run, advance } = ship.cluster
    await ship.schedule(ship.inTime(0))
    await advance(1_000)
    const hold = { metadata: { finalizers: ['example.com/hold'] } }
    await run(client.patch(Pod, podKey, hold, { type: 'merge' }))
    await run(client.delete(At.v1alpha1, key))
    await advance(600_000)
    assert.ok((await ship.pod())?.metadata.deletionTimestamp, 'the pod was asked to go')
    assert.deepEqual((await ship.at())?.metadata.finalizers, [finalizer])
    await run(client.patch(Pod, podKey, { metadata: { finalizers: null } }, { type: 'merge' }))
    await advance(1_000)
    assert.equal(await ship.pod(), undefined)
    assert.equal(await ship.at(), undefined)
  })

  it('ships the definition that its kind gives', () => {
    const shipped = readYaml(readFileSync(new URL('./crd.yaml', import.meta.url)))
    assert.deepEqual(shipped?.value, JSON.parse(JSON.stringify(toCustomResourceDefinition(At))))
  })
})
