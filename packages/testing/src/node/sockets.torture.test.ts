import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigMap } from '@coxswain/api/core/v1'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { createClient } from '@coxswain/client'
import { Informer } from '@coxswain/informers'
import { createSeededRandom, type Random } from '@coxswain/kit'
import { listerWatcherOf } from '@coxswain/runtime'
import { createCertificate, createHttpTransport, serve } from '@coxswain/wire/node'
import { type Cluster, startCluster } from '../cluster.ts'
import { createFaultyTransport, noTransportFaults, type TransportFaults } from '../faults/faulty-transport.ts'
import { startBadNetwork } from '../test-support/bad-network.ts'
import { createFastEnv } from '../test-support/fast-env.ts'
import { summary, Witness } from '../test-support/witness.ts'

/** Fifty for every thousand on the virtual clock. */
const runs = Math.min(50, Math.ceil(Number(process.env.TORTURE_RUNS ?? 80) / 20))
const first = Number(process.env.TORTURE_SEED ?? 1)
/** Runs at the same time: most of a run is waiting. */
const lanes = 4
const informersEach = 4
const incidentsEach = 12
/** A dead link is noticed after 150 seconds of the informer's clock. */
const speed = 50

function createTls() {
  const random = createSeededRandom(1)
  const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 }
  const ca = createCertificate({ subject: { commonName: 'ca' }, usages: ['ca'], ...validity }, random)
  const hosts = ['127.0.0.1']
  const server = createCertificate(
    { subject: { commonName: 'server' }, usages: ['server'], hosts, ...validity },
    random,
    ca,
  )
  const subject = { commonName: 'admin', organizations: ['system:masters'] }
  const admin = createCertificate({ subject, usages: ['client'], ...validity }, random, ca)
  return {
    server: { cert: server.certificate, key: server.key, clientCa: ca.certificate },
    client: { ca: ca.certificate, cert: admin.certificate, key: admin.key },
  }
}

const tls = createTls()
const bad: TransportFaults = {
  ...noTransportFaults,
  gateway: 0.05,
  expire: 0.03,
  truncate: 0.03,
  garbage: 0.03,
  slow: 0.05,
  loseAnswer: 0.03,
}

async function change(cluster: Cluster, random: Random): Promise<void> {
  const { client } = cluster
  const key = { namespace: 'default', name: `m${random.below(20)}` }
  if (random.below(4) === 0) return void (await client.delete(ConfigMap, key))
  const object = { metadata: key, data: { value: 'x'.repeat(random.below(300)) } }
  const found = await client.get(ConfigMap, key)
  await (found ? client.update(ConfigMap, object) : client.create(ConfigMap, object))
}

/** Informers over TLS through a network that breaks, goes silent and crawls, to a server that is restarted. */
async function torture(seed: number): Promise<void> {
  const random = createSeededRandom(seed * 7_919)
  const env = createFastEnv(speed)
  const http2 = seed % 2 === 0
  await using cluster = await startCluster({ env, controllers: false })
  let listener = await serve({ handler: cluster.handler, tls: tls.server })
  await using stack = new AsyncDisposableStack()
  stack.defer(() => listener.close({ grace: 0 }))
  await using network = await startBadNetwork(listener.port, random)
  let faults = bad
  const controller = new AbortController()
  const running: Promise<void>[] = []
  stack.defer(async () => {
    controller.abort()
    await Promise.all(running)
  })
  const informers = Array.from({ length: informersEach }, (_, index) => {
    const inner = createHttpTransport({
      server: `https://127.0.0.1:${network.port}`,
      tls: tls.client,
      http2,
      timeouts: { connect: 1_000, pingAfter: 600, ping: 300 },
    })
    stack.defer(() => inner[Symbol.asyncDispose]())
    const transport = createFaultyTransport(inner, env, () => faults)
    const client = createClient({ transport, env })
    const source = listerWatcherOf(client, ConfigMap, {})
    const informer = new Informer<ApiObject>({ source, env, freeze: true, watchList: index % 2 === 0 })
    const witness = new Witness()
    informer.addHandler(witness)
    const complete = new Promise<void>(resolve => {
      informer.addHandler({ onAdd: object => object.metadata.name === 'last' && resolve() })
    })
    running.push(informer.run(controller.signal))
    return { informer, witness, complete }
  })
  for (let step = 1; network.incidents < incidentsEach; step++) {
    await change(cluster, random)
    if (step % 150 === 0) {
      const { revision } = await cluster.store.status()
      if (random.below(2)) await cluster.store.compact(revision)
      await cluster.restart()
    }
    if (step % 400 === 0) {
      await listener.close({ grace: 0 })
      listener = await serve({ handler: cluster.handler, tls: tls.server })
      network.upstream = listener.port
    }
    await sleep(2) // lets the sockets have their turn
  }
  network.heal()
  faults = noTransportFaults
  await cluster.client.create(ConfigMap, { metadata: { namespace: 'default', name: 'last' } })
  await Promise.all(informers.map(({ complete }) => complete))
  const { items } = await cluster.client.list(ConfigMap)
  for (const { informer, witness } of informers) {
    assert.deepEqual(summary(informer.store.list()), summary(items), `seed ${seed}: the store`)
    witness.assertAgrees(items, `seed ${seed}`)
  }
}

describe(`informers over real sockets that break, ${runs} runs`, () => {
  it('end equal to the server, tell every handler the truth in order, and leave no socket behind', async () => {
    let next = first
    const lane = async (): Promise<void> => {
      while (next < first + runs) await torture(next++)
    }
    await Promise.all(Array.from({ length: Math.min(lanes, runs) }, lane))
  })
})
