import assert from 'node:assert/strict'
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { probeNetwork } from './network.ts'

/** A server of the health protocol that answers with `answer`. */
async function withServer(
  answer: (stream: ServerHttp2Stream, request: Buffer, path: string) => void,
  body: (port: number) => Promise<void>,
): Promise<void> {
  const server: Http2Server = createServer()
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => answer(stream, Buffer.concat(chunks), String(headers[':path'])))
    stream.on('error', () => {}) // the client has disconnected
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    await body((server.address() as AddressInfo).port)
  } finally {
    server.close()
  }
}

/** The status, in a frame, and the code that comes after it. */
function respond(stream: ServerHttp2Stream, status: number, code = 0): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(code) }))
  stream.end(Buffer.from([0, 0, 0, 0, 2, 8, status]))
}

const probe = (port: number, service = '', timeout = 5_000) =>
  probeNetwork({ type: 'grpc', port, service, timeout })

describe('a gRPC probe', () => {
  it('checks the health of a service by its name', async () => {
    await withServer(
      (stream, request, path) => {
        assert.equal(path, '/grpc.health.v1.Health/Check')
        const service = request.length > 5 ? request.subarray(7).toString() : ''
        respond(stream, service === 'sick' ? 2 : 1)
      },
      async port => {
        assert.equal((await probe(port)).success, true)
        assert.equal((await probe(port, 'well')).success, true)
        const { success, message } = await probe(port, 'sick')
        assert.deepEqual([success, message], [false, 'service unhealthy (responded with "NOT_SERVING")'])
      },
    )
  })

  it('says why it failed: no such protocol, no answer, connection refused', async () => {
    await withServer(
      stream => stream.respond({ ':status': 200, 'grpc-status': '12' }, { endStream: true }),
      async port => {
        assert.match((await probe(port)).message, /does not implement the grpc health protocol/)
      },
    )
    let free = 0
    await withServer(
      () => {},
      async port => {
        free = port
        const { success, message } = await probe(port, '', 100)
        assert.equal(success, false)
        assert.match(message, /deadline exceeded/)
      },
    )
    assert.match((await probe(free)).message, /ECONNREFUSED/)
  })
})
