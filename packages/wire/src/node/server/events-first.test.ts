import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { describe, it } from 'node:test'
import type { Handler } from '../../message.ts'
import { PushStream } from '../../push-stream.ts'
import { createTestCertificates } from '../test-support/certificates.ts'
import { serve } from './serve.ts'

const encoder = new TextEncoder()
const rounds = 20
const atOnce = 10

/** Every POST is sent to all watchers, then answered. */
function createNews(): { readonly handler: Handler; readonly watch: PushStream } {
  const watch = new PushStream({ limit: 1_000_000, onLeave: () => {} })
  const handler: Handler = async ({ method, path }) => {
    if (method === 'GET') return { status: 200, headers: {}, body: watch }
    // Other requests are served meanwhile: writes of one group are delivered and answered in one turn.
    await new Promise(setImmediate)
    watch.push(encoder.encode(`${path}\n`))
    return { status: 201, headers: {}, body: encoder.encode('made') }
  }
  return { handler, watch }
}

async function open(handler: Handler) {
  const { ca, server: tls } = createTestCertificates()
  const server = await serve({ handler, tls: { cert: tls.certificate, key: tls.key } })
  const session = connect(server.url, { ca: ca.certificate })
  return {
    session,
    async [Symbol.asyncDispose]() {
      session.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
}

describe('on one connection', () => {
  it('a response comes after the watch events that the request caused', async () => {
    const { handler } = createNews()
    await using opened = await open(handler)
    const { session } = opened
    const seen = new Set<string>()
    const watching = session.request({ ':path': '/watch' }).setEncoding('utf8')
    watching.on('data', (text: string) => {
      for (const line of text.split('\n')) seen.add(line)
    })
    await once(watching, 'response')
    const overtaken: string[] = []
    const post = async (path: string) => {
      const asked = session.request({ ':method': 'POST', ':path': path })
      asked.end()
      await once(asked.resume(), 'end')
      if (!seen.has(path)) overtaken.push(path)
    }
    for (let round = 0; round < rounds; round++)
      await Promise.all(Array.from({ length: atOnce }, (_, nth) => post(`/${round}/${nth}`)))
    assert.deepEqual(overtaken, [])
  })

  it('a response reaches a client that does not read its watch', async () => {
    const { handler, watch } = createNews()
    await using opened = await open(handler)
    const { session } = opened
    const watching = session.request({ ':path': '/watch' })
    await once(watching, 'response')
    watching.pause()
    for (let nth = 0; nth < 10; nth++) watch.push(new Uint8Array(90_000))
    const asked = session.request({ ':method': 'POST', ':path': '/x' })
    asked.end()
    const [headers] = await once(asked, 'response')
    assert.equal(headers[':status'], 201)
  })
})
