import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery'
import { createClient } from '@coxswain/client'
import { Informer } from '@coxswain/informers'
import { createRealEnv, createSeededRandom, type Random } from '@coxswain/kit'
import { createCertificate, createHttpTransport, serve } from '@coxswain/wire/node'
import { listerWatcherOf } from '../index.ts'
import { FakeServer } from '../test-support/fake-server.ts'
import { widgetKind, widgetPath } from '../test-support/simulation.ts'

const informersEach = 25
/** So many connections are cut before it ends. */
const cutsEach = 30

/** Forwards bytes, and cuts connections in the middle of anything until it is healed. */
async function startCutter(port: number, random: Random) {
  const sockets = new Set<Socket>()
  let healed = false
  let cuts = 0
  const proxy = createServer(client => {
    const upstream = connect(port, '127.0.0.1')
    let budget = 3_000 + random.below(15_000)
    const pairs = [
      [client, upstream],
      [upstream, client],
    ] as const
    for (const [from, to] of pairs) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('data', data => {
        budget -= data.length
        if (healed || budget > 0) {
          to.write(data)
          return
        }
        cuts++
        if (random.below(2)) client.resetAndDestroy()
        else upstream.destroy()
      })
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    port: (proxy.address() as AddressInfo).port,
    cuts: () => cuts,
    heal: () => {
      healed = true
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => proxy.close(resolve))
    },
  }
}

function createTls() {
  const random = createSeededRandom(1)
  const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 }
  const ca = createCertificate({ subject: { commonName: 'ca' }, usages: ['ca'], ...validity }, random)
  const subject = { commonName: 'server' }
  const pair = createCertificate(
    { subject, usages: ['server'], hosts: ['127.0.0.1'], ...validity },
    random,
    ca,
  )
  return { server: { cert: pair.certificate, key: pair.key }, client: { ca: ca.certificate } }
}

const summary = (objects: Iterable<DeepReadonly<ApiObject>>): string[] =>
  [...objects].map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort()

describe('over real sockets that break', { concurrency: true }, () => {
  for (const http2 of [true, false]) {
    it(`${http2 ? 'HTTP/2' : 'HTTP/1.1'}: ${informersEach} informers end equal to the server`, async () => {
      const random = createSeededRandom(http2 ? 5 : 6)
      const env = createRealEnv()
      const server = new FakeServer(env)
      const tls = createTls()
      await using listener = await serve({ handler: server.handler, tls: tls.server })
      await using cutter = await startCutter(listener.port, random)
      await using stack = new AsyncDisposableStack()
      const controller = new AbortController()
      const running: Promise<void>[] = []
      const put = (name: string, size: number): void => {
        server.put(widgetPath(name), {
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          metadata: {},
          spec: { size },
        })
      }
      const informers = Array.from({ length: informersEach }, (_, index) => {
        const transport = createHttpTransport({
          server: `https://127.0.0.1:${cutter.port}`,
          tls: tls.client,
          http2,
        })
        stack.defer(() => transport[Symbol.asyncDispose]())
        const client = createClient({ transport, env })
        const source = listerWatcherOf(client, widgetKind, {})
        const informer = new Informer<ApiObject>({ source, env, freeze: true, watchList: index % 2 === 0 })
        const complete = new Promise<void>(resolve => {
          informer.addHandler({ onAdd: object => object.metadata.name === 'last' && resolve() })
        })
        running.push(informer.run(controller.signal))
        return { informer, complete }
      })
      stack.defer(async () => {
        controller.abort()
        await Promise.all(running)
      })
      while (cutter.cuts() < cutsEach) {
        const name = `w${random.below(20)}`
        if (random.below(4) || !server.object(widgetPath(name))) put(name, random.below(1_000))
        else server.delete(widgetPath(name))
        if (random.below(100) === 0) server.compact()
        await sleep(2) // lets the sockets have their turn
      }
      cutter.heal()
      put('last', 0)
      await Promise.all(informers.map(({ complete }) => complete))
      const truth = summary(server.objects('/apis/example.com/v1/widgets') as DeepReadonly<ApiObject>[])
      for (const { informer } of informers) assert.deepEqual(summary(informer.store.list()), truth)
    })
  }
})
