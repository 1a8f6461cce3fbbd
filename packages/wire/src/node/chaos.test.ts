import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { createSeededRandom, type Random } from '@coxswain/kit'
import { readBody } from '../body.ts'
import { isTransportError } from '../errors.ts'
import { createHttpTransport } from './client/http-transport.ts'
import { serve } from './server/serve.ts'
import { createTestCertificates } from './test-support/certificates.ts'

const certificates = createTestCertificates()

/** Forwards bytes, and cuts connections at random points, at either end. */
async function startCutter(port: number, bytes: number, random: Random) {
  const sockets = new Set<Socket>()
  const proxy = createServer(client => {
    const upstream = connect(port, '127.0.0.1')
    let budget = 2000 + random.below(bytes)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('data', data => {
        budget -= data.length
        if (budget > 0) to.write(data)
        else if (random.below(2) === 0) client.resetAndDestroy()
        else upstream.destroy()
      })
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => proxy.close(resolve))
    },
  }
}

describe('over unreliable connections', () => {
  for (const http2 of [true, false]) {
    it(`${http2 ? 'HTTP/2' : 'HTTP/1.1'}: every response is complete or an error, none hangs, nothing is done twice`, async () => {
      const random = createSeededRandom(http2 ? 11 : 12)
      const handled = new Map<string, number>()
      let open = 0
      const { server: pair, ca } = certificates
      await using server = await serve({
        tls: { cert: pair.certificate, key: pair.key },
        handler: async request => {
          const id = request.path.slice(1)
          handled.set(id, (handled.get(id) ?? 0) + 1)
          const length = Number(request.query)
          const body = Buffer.alloc(length, id)
          if (length % 2 === 0) return { status: 200, headers: {}, body }
          async function* stream() {
            open++
            try {
              for (let at = 0; at < length; at += 1000) yield body.subarray(at, at + 1000)
            } finally {
              open--
            }
          }
          return { status: 200, headers: {}, body: stream() }
        },
      })
      await using cutter = await startCutter(server.port, http2 ? 200_000 : 40_000, random)
      await using transport = createHttpTransport({ server: cutter.url, tls: { ca: ca.certificate }, http2 })
      let whole = 0
      let failed = 0
      const send = async (id: string, length: number) => {
        const method = random.below(2) === 0 ? 'POST' : 'GET'
        const signal = AbortSignal.timeout(60_000)
        try {
          const response = await transport.send({
            method,
            path: `/${id}`,
            query: String(length),
            headers: {},
            signal,
            ...(method === 'POST' && { body: Buffer.alloc(random.below(3000)) }),
          })
          const body = await readBody(response.body)
          assert.deepEqual(Buffer.from(body), Buffer.alloc(length, id), 'a body that ends is complete')
          whole++
        } catch (error) {
          assert.ok(isTransportError(error), String(error))
          failed++
        }
        const times = handled.get(id) ?? 0
        assert.ok(times <= 1 || method === 'GET', `a write was handled ${times} times`)
      }
      for (let round = 0; round < 30; round++) {
        const ids = Array.from({ length: 8 }, (_, i) => `r${round}-${i}`)
        await Promise.all(ids.map(id => send(id, 1 + random.below(8000))))
      }
      assert.equal(whole + failed, 240)
      assert.ok(whole > 20 && failed > 5, `${whole} whole, ${failed} failed`)
      await transport[Symbol.asyncDispose]()
      await cutter[Symbol.asyncDispose]()
      await server.close({ grace: 0 })
      assert.equal(open, 0, 'streams that the server still holds')
    })
  }
})
