import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import type { PeerCertificate, WireRequest, WireResponse } from '@coxswain/wire'
import { type ApiServer, createApiServer } from '../server.ts'
import { dealHand, FairQueues, type Seat } from './fair-queues.ts'
import { balanceLevels, type Level, readLevel, updateLevels } from './priority-levels.ts'

const never = new AbortController().signal
const settings = { queues: 8, handSize: 2, lengthLimit: 50 }

/** Runs requests of two users on `limit` seats, a second each; returns how long each of the second user's waited. */
async function share(world: VirtualWorld, noisy: number, quiet: number): Promise<number[]> {
  const queues = new FairQueues(world.clock, settings, 2)
  const waits: number[] = []
  const ask = async (flow: string) => {
    const since = world.clock.monotonic()
    const seat = await queues.enter(flow, 1, { ms: 600_000, request: { signal: never } })
    if (typeof seat === 'string') return
    if (flow === 'quiet') waits.push(world.clock.monotonic() - since)
    await world.clock.sleep(1_000)
    seat.release()
  }
  const all = Array.from({ length: noisy }, () => ask('noisy'))
  for (let index = 0; index < quiet; index++) {
    await world.advance(3_000)
    all.push(ask('quiet'))
  }
  await world.run(Promise.all(all))
  return waits
}

describe('fair queues', () => {
  it('let no request wait while seats are free', () => {
    const queues = new FairQueues(new VirtualWorld({ seed: 1 }).clock, settings, 3)
    const seats = ['a', 'a', 'b'].map(flow => queues.enter(flow, 1, { ms: 1, request: { signal: never } }))
    assert.ok(seats.every(seat => typeof seat === 'object' && 'release' in seat))
    assert.equal(queues.executing, 3)
    for (const seat of seats) (seat as Seat).release()
    assert.equal(queues.executing, 0)
  })

  it('let a quiet flow through although a noisy one has forty requests waiting', async () => {
    const waits = await share(new VirtualWorld({ seed: 1 }), 40, 4)
    assert.equal(waits.length, 4)
    assert.ok(Math.max(...waits) <= 2_000, String(waits))
  })

  it('reject requests that find their queue full, and those that waited too long', async () => {
    const world = new VirtualWorld({ seed: 1 })
    const queues = new FairQueues(world.clock, { queues: 1, handSize: 1, lengthLimit: 1 }, 1)
    const held = queues.enter('a', 1, { ms: 1_000, request: { signal: never } })
    const waiting = queues.enter('a', 1, { ms: 1_000, request: { signal: never } })
    assert.equal(queues.enter('a', 1, { ms: 1_000, request: { signal: never } }), 'queue-full')
    await world.advance(1_500)
    assert.equal(await waiting, 'time-out')
    assert.equal(queues.waiting, 0)
    ;(held as Seat).release()
    const none = new FairQueues(world.clock, { queues: 0, handSize: 0, lengthLimit: 0 }, 1)
    none.enter('a', 1, { ms: 1, request: { signal: never } })
    assert.equal(none.enter('a', 1, { ms: 1, request: { signal: never } }), 'concurrency-limit')
  })

  it('deal a flow the same queues each time', () => {
    const hand = dealHand('jane', 64, 6)
    assert.deepEqual(dealHand('jane', 64, 6), hand)
    assert.equal(new Set(hand).size, 6)
    const seen = new Set<number>()
    for (let user = 0; user < 1_000; user++)
      for (const queue of dealHand(`user-${user}`, 64, 6)) seen.add(queue)
    assert.equal(seen.size, 64)
  })
})

const levelOf = (name: string, limited: object) =>
  readLevel({ metadata: { name, uid: name }, spec: { type: 'Limited', limited } })

describe('priority levels', () => {
  it('divide the seats by their shares, and lend what they do not need', () => {
    const { clock } = new VirtualWorld({ seed: 1 })
    const configs = [
      levelOf('busy', { nominalConcurrencyShares: 30, lendablePercent: 50 }),
      levelOf('idle', { nominalConcurrencyShares: 70, lendablePercent: 50 }),
    ]
    const levels = updateLevels(new Map<string, Level>(), configs, { seats: 100, clock })
    const limitOf = (name: string) => levels.get(name)?.queues.limit
    assert.deepEqual([limitOf('busy'), limitOf('idle')], [30, 70])
    for (let index = 0; index < 60; index++)
      levels.get('busy')?.queues.enter('a', 1, { ms: 1_000, request: { signal: never } })
    balanceLevels(levels.values(), 100)
    assert.deepEqual([limitOf('busy'), limitOf('idle')], [65, 35])
  })
})

const requestOf = (path: string, peer: PeerCertificate): WireRequest => ({
  method: 'GET',
  path,
  query: '',
  headers: {},
  peer,
  signal: never,
})
const peerOf = (commonName: string, organizations: string[] = []): PeerCertificate => ({
  commonName,
  organizations,
  notAfter: Number.MAX_SAFE_INTEGER,
})

describe('a server with priority and fairness', () => {
  async function withServer(body: (server: ApiServer, world: VirtualWorld) => Promise<void>): Promise<void> {
    const world = new VirtualWorld({ seed: 1 })
    const store = createMemoryStore({ env: world })
    const server = createApiServer({ env: world, store })
    const controller = new AbortController()
    const running = server.run(controller.signal)
    await world.run(server.ready)
    await body(server, world)
    controller.abort()
    await world.run(running)
    await world.run(store.close())
  }
  const text = async ({ body }: WireResponse) => Buffer.from(body as Uint8Array).toString()

  it('reports the schema and level of a request, and serves its debug pages', async () => {
    await withServer(async (server, world) => {
      await world.advance(1_000)
      const admin = peerOf('admin', ['system:masters'])
      const get = (path: string, peer = admin) => world.run(server.handler(requestOf(path, peer)))
      const { headers } = await get('/api/v1/namespaces/default/pods')
      const schemas = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'
      const exempt = JSON.parse(await text(await get(`${schemas}/exempt`)))
      assert.equal(headers['x-kubernetes-pf-flowschema-uid'], exempt.metadata.uid)
      const other = await get('/version', peerOf('jane'))
      const catchAll = JSON.parse(await text(await get(`${schemas}/global-default`)))
      assert.equal(other.headers['x-kubernetes-pf-flowschema-uid'], catchAll.metadata.uid)
      assert.deepEqual(catchAll.status.conditions[0].reason, 'Found')
      const page = await text(await get('/debug/api_priority_and_fairness/dump_priority_levels'))
      assert.match(page, /^PriorityLevelName,\s+ActiveQueues,/)
      assert.match(page, /\nglobal-default,\s+0,\s+true,/)
      const metrics = await text(await get('/metrics'))
      assert.match(metrics, /# TYPE apiserver_flowcontrol_dispatched_requests_total counter/)
      assert.match(metrics, /dispatched_requests_total\{priority_level="exempt",flow_schema="exempt"\} [1-9]/)
      assert.match(metrics, /apiserver_flowcontrol_nominal_limit_seats\{priority_level="catch-all"\} \d+/)
    })
  })
})
