import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Lease } from '@coxswain/api/coordination/v1'
import { ConfigMap } from '@coxswain/api/core/v1'
import { aborted, createSeededRandom, type Env, VirtualWorld } from '@coxswain/kit'
import { defineOperator, isRuntimeError, LeaderElector, Manager, requeueAfter } from '@coxswain/runtime'
import { type Transport, TransportError, type WireRequest } from '@coxswain/wire'
import { type Cluster, startCluster } from './cluster.ts'
import { PausableProcess } from './faults/pausable-process.ts'

const ways = ['kill', 'pause', 'partition', 'loss of the lease', 'stop'] as const
type Way = (typeof ways)[number]

/** The ways to lose a leader share the runs, five hundred each at most. */
const runs = Math.min(500, Math.ceil(Number(process.env.TORTURE_RUNS ?? 45) / ways.length))
const first = Number(process.env.TORTURE_SEED ?? 1)
const renewDeadline = 10_000
const leaseDuration = 15_000
const retryPeriod = 2_000
const key = { namespace: 'default', name: 'counter' }

/** Writes all the time, with a wait between reading and writing. */
const writer = defineOperator('writer', operator => {
  operator
    .controller('writer')
    .for(ConfigMap)
    .reconcile(async ({ key: each, client, clock, signal }) => {
      const map = await client.get(ConfigMap, each)
      if (!map || each.name !== key.name) return
      await clock.sleep(600, { signal })
      await client.update(ConfigMap, { ...map, data: { seen: String(Number(map.data?.seen ?? 0) + 1) } })
      return requeueAfter(400)
    })
})

interface Sent {
  readonly by: string
  readonly time: number
  readonly isLease: boolean
  /** When the client got its answer, or gave up. */
  ended?: number
  /** When it reached the server. */
  arrived?: number
  succeeded?: boolean
}

/** A way to the server that takes its time, can be cut, and knows what was written. */
function createLink(inner: Transport, env: Env, by: string, sent: Sent[]) {
  const { clock, random } = env
  const delay = random.below(2) * random.below(1_500)
  let isCut = (_: WireRequest): boolean => false
  let isHalfOpen = false
  const transport: Transport = {
    async send(request) {
      const isLease = request.path.includes('/leases')
      const entry: Sent = { by, time: clock.monotonic(), isLease }
      if (request.method !== 'GET') sent.push(entry)
      try {
        if (delay > 0) await clock.sleep(random.below(delay), { signal: request.signal })
        if (isCut(request)) throw new TransportError('ConnectFailed', 'cut', { sent: false })
        if (isHalfOpen && request.method !== 'GET') {
          await aborted(request.signal)
          throw request.signal.reason
        }
        entry.arrived = clock.monotonic()
        const response = await inner.send(request)
        entry.succeeded = response.status < 300
        return response
      } finally {
        entry.ended = clock.monotonic()
      }
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }
  return {
    transport,
    cut: (which: (request: WireRequest) => boolean) => {
      isCut = which
    },
    /** Writes get no answer from now on. */
    halfOpen: () => {
      isHalfOpen = true
    },
  }
}

/** A replica in a process of its own. */
function startReplica(cluster: Cluster, identity: string, sent: Sent[], changeEnv: (env: Env) => Env) {
  const world = cluster.env
  const process = new PausableProcess(world)
  const inner = cluster.connect()
  const link = createLink(inner, world, identity, sent)
  const manager = new Manager(writer, {
    transport: process.transport(link.transport, () => {}),
    env: changeEnv(process.env),
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
    process,
    link,
    inner,
    stopped,
    stop: () => controller.abort(),
    outcome: () => outcome,
  }
}

async function failOver(
  seed: number,
  how: Way,
  changeEnv: (env: Env) => Env = env => env,
): Promise<{ readonly inFlight: number }> {
  const dice = createSeededRandom(seed * 31)
  const world = new VirtualWorld({ seed })
  let inFlight = 0
  {
    await using cluster = await startCluster({ env: world, controllers: false })
    await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
    const sent: Sent[] = []
    const replicas = ['one', 'two'].map(identity => startReplica(cluster, identity, sent, changeEnv))
    const leaseOf = () => cluster.client.get(Lease, { namespace: 'kube-system', name: 'writer' })
    const holder = async () => (await cluster.run(leaseOf()))?.spec?.holderIdentity
    const writesOf = (by: string) => sent.filter(entry => entry.by === by && !entry.isLease)
    await world.advance(12_000 + dice.below(12_000))
    const name = await holder()
    const leader = replicas.find(({ identity }) => identity === name)!
    const other = replicas.find(replica => replica !== leader)!
    assert.ok(leader, `seed ${seed}: a replica leads`)
    assert.ok(writesOf(leader.identity).length > 0, `seed ${seed}: the leader writes`)
    assert.equal(writesOf(other.identity).length, 0, `seed ${seed}: only the leader writes`)

    const begin = world.clock.monotonic()
    if (how === 'kill') {
      leader.link.cut(() => true)
      await world.run(leader.inner[Symbol.asyncDispose]() as Promise<void>)
      leader.stop()
    } else if (how === 'pause') leader.process.pause()
    else if (how === 'stop') leader.stop()
    else if (how === 'partition') leader.link.cut(() => true)
    else {
      leader.link.cut(({ path }) => path.includes('/leases'))
      if (dice.below(2)) leader.link.halfOpen()
    }

    const takeOver = () =>
      sent.find(
        ({ by, isLease, succeeded, arrived = 0 }) =>
          by === other.identity && isLease && succeeded && arrived >= begin,
      )
    await world.runUntil(() => takeOver() !== undefined, 60_000)
    assert.equal(await holder(), other.identity)
    const took = takeOver()!.ended! - begin
    // The lease time, the time between two tries, and the time a renewal or a try may take on this link.
    assert.ok(took <= leaseDuration + retryPeriod * 2.2 + 3_500, `seed ${seed}: ${how}: ${took} ms`)
    if (how === 'stop') assert.ok(took <= retryPeriod * 2.2 + 6_500, `seed ${seed}: released, ${took} ms`)
    await world.advance(dice.below(30_000))
    leader.process.resume()
    leader.link.cut(() => false)
    await world.advance(20_000)

    const renewed = sent.filter(entry => entry.by === leader.identity && entry.isLease && entry.succeeded)
    const lastRenewal = Math.max(...renewed.map(({ time }) => time))
    const deadline = lastRenewal + renewDeadline
    const late = writesOf(leader.identity).filter(({ time }) => time > deadline)
    assert.deepEqual(late, [], `seed ${seed}: ${how}: writes after the lease's end`)
    const underway = writesOf(leader.identity).filter(({ ended = Infinity }) => ended >= deadline)
    inFlight = underway.length
    // A process that does not run cannot give anything up; every other one does before the lease is over.
    if (how !== 'pause') {
      const tooLong = underway.filter(({ ended = Infinity }) => ended > lastRenewal + leaseDuration)
      assert.deepEqual(tooLong, [], `seed ${seed}: ${how}: a write was not given up in time`)
    }
    const firstOfOther = Math.min(...writesOf(other.identity).map(({ time }) => time))
    assert.ok(Number.isFinite(firstOfOther), `seed ${seed}: the other one works`)
    const overlap = writesOf(leader.identity).filter(({ time }) => time > firstOfOther)
    assert.deepEqual(overlap, [], `seed ${seed}: ${how}: two leaders wrote`)
    if (how === 'stop') assert.equal(leader.outcome(), 'stopped')
    else if (how !== 'kill') assert.ok(isRuntimeError(leader.outcome(), 'LeadershipLost'), `seed ${seed}`)
    for (const replica of replicas) replica.stop()
    await world.run(Promise.all(replicas.map(({ stopped }) => stopped)))
  }
  assert.equal(world.nextTimer, undefined, `seed ${seed}: a timer was left behind`)
  return { inFlight }
}

describe(`two replicas and our server, ${runs} seeds each`, () => {
  for (const how of ways) {
    it(`after a ${how} of the leader the other takes over in time, and the first writes no more`, async t => {
      let inFlight = 0
      for (let seed = first; seed < first + runs; seed++) inFlight += (await failOver(seed, how)).inFlight
      t.diagnostic(`${inFlight} writes were in flight when the lease could no longer be renewed`)
    })
  }
})

describe('the suite above is red when', () => {
  const { prototype } = LeaderElector
  const { admit } = prototype
  const isRed = async (how: Way, changeEnv?: (env: Env) => Env): Promise<boolean> => {
    for (let seed = 1; seed <= 100; seed++) {
      const found = await failOver(seed, how, changeEnv).then(
        () => false,
        () => true,
      )
      if (found) return true
    }
    return false
  }

  it('a replica writes without asking whether it still leads', async () => {
    prototype.admit = () => leaseDuration
    try {
      assert.ok(await isRed('pause'), 'nothing was noticed')
    } finally {
      prototype.admit = admit
    }
  })

  it('a replica takes the lease before its time is over', async () => {
    const hasty = (env: Env): Env => ({
      ...env,
      random: env.random,
      log: env.log,
      scheduler: env.scheduler,
      clock: { ...env.clock, monotonic: () => env.clock.monotonic() * 4 },
    })
    assert.ok(await isRed('partition', hasty), 'nothing was noticed')
  })
})
