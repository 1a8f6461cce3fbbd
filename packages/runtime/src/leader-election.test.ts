import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newInternalError } from '@coxswain/apimachinery/status'
import { VirtualWorld } from '@coxswain/kit'
import { defineOperator, isRuntimeError, LeaderElector } from './index.ts'
import type { EventObject, Lease } from './internal/kinds.ts'
import { Simulation, type Widget, widgetKind, widgetPath } from './test-support/simulation.ts'

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/writer'

describe('leader election', () => {
  it('runs only what does not need a leader until it leads, and resolves elected then', async () => {
    await using sim = new Simulation()
    const now = new Date(sim.world.clock.now()).toISOString()
    sim.server.put(leasePath, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'writer' },
      spec: { holderIdentity: 'another', leaseDurationSeconds: 15, acquireTime: now, renewTime: now },
    })
    const ran: string[] = []
    const operator = defineOperator('writer', builder => {
      builder.task('leader', async () => void ran.push('leader'))
      builder.task('anyone', async () => void ran.push('anyone'), { needsLeader: false })
    })
    const { manager } = sim.start(operator, { leaderElection: { namespace: 'kube-system' } })
    let elected = false
    manager.elected.then(() => {
      elected = true
    })
    await sim.world.advance(14_000)
    assert.deepEqual([ran, elected, manager.isLeader], [['anyone'], false, false])
    assert.match(manager.metrics.text(), /leader_election_master_status\{name="writer"\} 0/)
    await sim.world.advance(10_000)
    assert.deepEqual([ran, elected, manager.isLeader], [['anyone', 'leader'], true, true])
    assert.match(manager.metrics.text(), /leader_election_master_status\{name="writer"\} 1/)
    const { spec } = sim.server.object<Lease>(leasePath)!
    assert.match(spec?.holderIdentity ?? '', /^writer_[0-9a-f-]{36}$/)
    assert.match(spec?.renewTime ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    assert.deepEqual([spec?.leaseDurationSeconds, spec?.leaseTransitions], [15, 1])
    const [event] = sim.server.objects('/api/v1/events') as unknown as EventObject[]
    assert.equal(event?.message, `${spec?.holderIdentity} became leader`)
    assert.equal(event?.involvedObject.kind, 'Lease')
  })

  it('labels the Lease, new or not, and names the host', async () => {
    await using sim = new Simulation()
    const leaderElection = { namespace: 'kube-system', labels: { app: 'writer' } }
    const writer = defineOperator('writer', () => {})
    const { stop, stopped } = sim.start(writer, { leaderElection, hostname: 'pod-1' })
    await sim.world.advance(3_000)
    const { metadata, spec } = sim.server.object<Lease>(leasePath)!
    assert.deepEqual(metadata.labels, { app: 'writer' })
    assert.match(spec?.holderIdentity ?? '', /^pod-1_[0-9a-f-]{36}$/)
    stop()
    await sim.world.run(stopped)
    sim.server.put(leasePath, {
      ...sim.server.object<Lease>(leasePath)!,
      metadata: { ...metadata, labels: { other: 'x' } },
    })
    sim.start(writer, { leaderElection })
    await sim.world.advance(30_000)
    assert.deepEqual(sim.server.object<Lease>(leasePath)!.metadata.labels, { other: 'x', app: 'writer' })
  })

  it('keeps the lease when it stops without releaseOnCancel', async () => {
    await using sim = new Simulation()
    const operator = defineOperator('writer', () => {})
    const leaderElection = { namespace: 'kube-system', releaseOnCancel: false }
    const { manager, stop, stopped } = sim.start(operator, { leaderElection })
    await sim.world.advance(1_000)
    stop()
    await sim.world.run(stopped)
    assert.equal(manager.isLeader, false)
    assert.match(sim.server.object<Lease>(leasePath)?.spec?.holderIdentity ?? '', /^writer_/)
  })

  it('keeps the lease while the last reconcile ends, and releases it then', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    const operator = defineOperator('writer', builder => {
      builder
        .controller('slow')
        .for(widgetKind)
        .reconcile(async ({ key, client, clock }) => {
          await clock.sleep(20_000)
          await client.updateStatus(widgetKind, {
            ...(await client.get(widgetKind, key))!,
            status: { phase: 'done' },
          })
        })
    })
    const { stop, stopped } = sim.start(operator, { leaderElection: { namespace: 'kube-system' } })
    await sim.world.advance(5_000)
    stop()
    await sim.world.run(stopped)
    assert.equal(sim.server.object<Widget>(widgetPath('a'))?.status?.phase, 'done')
    assert.equal(sim.server.object<Lease>(leasePath)?.spec?.holderIdentity, '')
  })

  it('ends even when a reconcile does not notice that leadership is lost, and blocks its writes', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    const refused: unknown[] = []
    const operator = defineOperator('writer', builder => {
      builder
        .controller('deaf')
        .for(widgetKind)
        .reconcile(async ({ key, client, clock }) => {
          await clock.sleep(30_000)
          const widget = (await client.get(widgetKind, key))!
          const late = { ...widget, status: { phase: 'late' } }
          for (const writer of [client, client.direct]) {
            await writer.updateStatus(widgetKind, late).catch(error => refused.push(error))
          }
        })
    })
    const { stopped } = sim.start(operator, { leaderElection: { namespace: 'kube-system' } })
    await sim.world.advance(1_000)
    sim.server.intercept = ({ path }) => (path.includes('/leases') ? newInternalError('away') : undefined)
    const error = await sim.world.run(stopped.catch(failure => failure))
    assert.ok(isRuntimeError(error, 'LeadershipLost'))
    assert.equal(refused.length, 2, 'with and without the cache')
    assert.equal(sim.server.object<Widget>(widgetPath('a'))?.status, undefined)
  })

  it('rejects inconsistent durations', () => {
    const world = new VirtualWorld()
    const client = {} as never
    const create = (times: object) => () =>
      new LeaderElector({ client, env: world, operator: 'x', namespace: 'default', ...times })
    assert.throws(create({ leaseDuration: 10_000 }), { code: 'BadDefinition' })
    assert.throws(create({ renewDeadline: 2_000 }), { code: 'BadDefinition' })
    assert.doesNotThrow(create({}))
  })
})
