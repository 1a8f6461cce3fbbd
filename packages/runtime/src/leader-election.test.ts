import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newInternalError } from '@coxswain/apimachinery'
import { createSeededRandom, VirtualWorld } from '@coxswain/kit'
import { createInProcessTransport } from '@coxswain/wire'
import { defineOperator, isRuntimeError, LeaderElector, Manager, requeueAfter } from './index.ts'
import type { Lease } from './internal/kinds.ts'
import { FakeServer } from './test-support/fake-server.ts'
import { PausableProcess } from './test-support/pausable.ts'
import { Simulation, type Widget, widgetKind, widgetPath } from './test-support/simulation.ts'

/** Four ways to lose a leader share the runs. */
const runs = Math.ceil(Number(process.env.TORTURE_RUNS ?? 100) / 4)
const first = Number(process.env.TORTURE_SEED ?? 1)
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/writer'
const renewDeadline = 10_000
const leaseDuration = 15_000

/** Writes all the time, with a wait between reading and writing. */
const writer = defineOperator('writer', operator => {
  operator
    .controller('writer')
    .for(widgetKind)
    .reconcile(async ({ key, client, clock, signal }) => {
      const widget = await client.get(widgetKind, key)
      if (!widget) return
      await clock.sleep(600, { signal })
      await client.updateStatus(widgetKind, { ...widget, status: { seen: (widget.status?.seen ?? 0) + 1 } })
      return requeueAfter(400)
    })
})

interface Sent {
  readonly time: number
  readonly isLease: boolean
}

/** A replica in a process of its own. */
function startReplica(world: VirtualWorld, server: FakeServer, identity: string) {
  const process = new PausableProcess(world)
  const sent: Sent[] = []
  const inner = createInProcessTransport(server.handler, world)
  const transport = process.transport(inner, (method, path) => {
    if (method !== 'GET') sent.push({ time: world.clock.monotonic(), isLease: path.includes('/leases') })
  })
  const manager = new Manager(writer, {
    transport,
    env: process.env,
    gracefulShutdown: 0,
    leaderElection: { namespace: 'kube-system', identity },
  })
  const controller = new AbortController()
  let outcome: unknown
  const stopped = manager.run(controller.signal).then(
    () => {
      outcome = 'stopped'
    },
    error => {
      outcome = error
    },
  )
  return {
    identity,
    manager,
    process,
    sent,
    inner,
    stopped,
    stop: () => controller.abort(),
    outcome: () => outcome,
  }
}

/** The widgets' writes in the order in which they reached the server, with who sent them and who held the lease. */
interface Arrival {
  readonly time: number
  readonly by: string
}

async function failOver(seed: number, how: 'kill' | 'pause' | 'partition' | 'stop'): Promise<void> {
  const dice = createSeededRandom(seed * 31)
  const world = new VirtualWorld({ seed })
  const server = new FakeServer(world)
  server.put(widgetPath('a'), {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'a' },
    spec: { size: 1 },
  })
  const arrivals: Arrival[] = []
  const cut = new Set<string>()
  const replicas = ['one', 'two'].map(identity => startReplica(world, server, identity))
  const holder = () => server.object<Lease>(leasePath)?.spec?.holderIdentity
  const lastWrite = (replica: (typeof replicas)[number]) =>
    replica.sent.filter(({ isLease }) => !isLease).at(-1)?.time
  // Every replica has a client of its own; the server tells them apart by the connection.
  for (const replica of replicas) {
    const { sent } = replica
    const push = sent.push.bind(sent)
    sent.push = entry => {
      if (!entry.isLease) arrivals.push({ time: entry.time, by: replica.identity })
      return push(entry)
    }
  }
  await world.advance(6_000 + dice.below(6_000))
  const leader = replicas.find(({ identity }) => identity === holder())!
  const other = replicas.find(replica => replica !== leader)!
  assert.ok(leader, `seed ${seed}: somebody leads`)
  assert.ok(
    lastWrite(leader) !== undefined && lastWrite(other) === undefined,
    `seed ${seed}: only the leader writes`,
  )
  const lastRenewal = () => leader.sent.filter(({ isLease }) => isLease).at(-1)!.time

  const begin = world.clock.monotonic()
  if (how === 'kill') {
    await world.run(leader.inner[Symbol.asyncDispose]() as Promise<void>)
    leader.stop()
  } else if (how === 'pause') leader.process.pause()
  else if (how === 'stop') leader.stop()
  else {
    cut.add(leader.identity)
    server.intercept = call =>
      call.path.includes('/leases') &&
      (call.body as Lease | undefined)?.spec?.holderIdentity === leader.identity
        ? newInternalError('cut off')
        : undefined
  }
  const deadline = lastRenewal() + renewDeadline
  await world.runUntil(() => holder() === other.identity, 60_000)
  const took = world.clock.monotonic() - begin
  // The lease time, a try, and the time a try may take.
  assert.ok(took <= leaseDuration + 2_000 * 2.2 + 300, `seed ${seed}: ${how}: taken over after ${took} ms`)
  if (how === 'stop')
    assert.ok(
      took <= 2_000 * 2.2,
      `seed ${seed}: a lease that was released is taken at once, not after ${took} ms`,
    )
  await world.advance(dice.below(30_000))
  if (how === 'pause') leader.process.resume()
  server.intercept = undefined
  await world.advance(20_000)
  const late = leader.sent.filter(({ time, isLease }) => !isLease && time >= begin && time >= deadline)
  assert.deepEqual(late, [], `seed ${seed}: ${how}: writes after the lease's end`)
  const firstOfOther = arrivals.find(({ by }) => by === other.identity)!.time
  const overlap = arrivals.filter(({ by, time }) => by === leader.identity && time > firstOfOther)
  assert.deepEqual(overlap, [], `seed ${seed}: ${how}: two leaders wrote`)
  if (how === 'pause' || how === 'partition') assert.ok(isRuntimeError(leader.outcome(), 'LeadershipLost'))
  if (how === 'stop') assert.equal(leader.outcome(), 'stopped')
  for (const replica of replicas) replica.stop()
  await world.run(Promise.all(replicas.map(({ stopped }) => stopped)))
  assert.equal(world.nextTimer, undefined, `seed ${seed}: a timer was left behind`)
}

describe(`two replicas, ${runs} seeds each`, () => {
  for (const how of ['kill', 'pause', 'partition', 'stop'] as const) {
    it(`when the leader meets with a ${how}, the other takes over in time and the first writes no more`, async () => {
      for (let seed = first; seed < first + runs; seed++) await failOver(seed, how)
    })
  }
})

describe('the suite above is red when', () => {
  it('a replica writes without asking whether it still leads', async () => {
    const { prototype } = LeaderElector
    const { admit } = prototype
    prototype.admit = () => 15_000
    try {
      let found = false
      for (let seed = first; seed < first + 100 && !found; seed++) {
        await failOver(seed, 'pause').catch(() => {
          found = true
        })
      }
      assert.ok(found, 'nothing was noticed')
    } finally {
      prototype.admit = admit
    }
  })
})

describe('leader election', () => {
  it('runs only what does not need a leader until it leads, and says when it does', async () => {
    await using sim = new Simulation()
    const now = new Date(sim.world.clock.now()).toISOString()
    sim.server.put(leasePath, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'writer' },
      spec: { holderIdentity: 'somebody', leaseDurationSeconds: 15, acquireTime: now, renewTime: now },
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

  it('ends also when a reconcile does not notice that leadership is lost, and holds back what it writes then', async () => {
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
          await client.updateStatus(widgetKind, { ...widget, status: { phase: 'late' } }).catch(error => {
            refused.push(error)
          })
        })
    })
    const { stopped } = sim.start(operator, { leaderElection: { namespace: 'kube-system' } })
    await sim.world.advance(1_000)
    sim.server.intercept = ({ path }) => (path.includes('/leases') ? newInternalError('away') : undefined)
    const error = await sim.world.run(stopped.catch(failure => failure))
    assert.ok(isRuntimeError(error, 'LeadershipLost'))
    assert.equal(refused.length, 1)
    assert.equal(sim.server.object<Widget>(widgetPath('a'))?.status, undefined)
  })

  it('refuses times that cannot work', () => {
    const world = new VirtualWorld()
    const client = {} as never
    const create = (times: object) => () =>
      new LeaderElector({ client, env: world, operator: 'x', namespace: 'default', ...times })
    assert.throws(create({ leaseDuration: 10_000 }), { code: 'BadDefinition' })
    assert.throws(create({ renewDeadline: 2_000 }), { code: 'BadDefinition' })
    assert.doesNotThrow(create({}))
  })
})
