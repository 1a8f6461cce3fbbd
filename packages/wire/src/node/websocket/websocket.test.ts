import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import type { Handler, WireResponse } from '../../message.ts'
import { encodeFrame, FrameReader, opcodes } from '../../websocket/frames.ts'
import { serve } from '../server/serve.ts'
import { acceptHandshake } from './handshake.ts'
import { createWebSocketUpgrade } from './upgrade.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (data: Uint8Array) => new TextDecoder().decode(data)

/** A frame as clients send them: masked. */
function mask(opcode: number, payload: Uint8Array): Uint8Array {
  const plain = encodeFrame(opcode, payload)
  const at = plain.length - payload.length
  const key = Uint8Array.of(1, 2, 3, 4)
  const frame = new Uint8Array(plain.length + 4)
  frame.set(plain.subarray(0, at))
  frame[1]! |= 0x80
  frame.set(key, at)
  frame.set(
    payload.map((byte, i) => byte ^ key[i % 4]!),
    at + 4,
  )
  return frame
}

function readAll(chunks: readonly Uint8Array[]): { controls: [number, string][]; errors: string[] } {
  const controls: [number, string][] = []
  const errors: string[] = []
  const reader = new FrameReader(
    {
      onControl: (opcode, payload) => controls.push([opcode, text(payload)]),
      onError: reason => errors.push(reason),
    },
    { from: 'client' },
  )
  for (const chunk of chunks) reader.push(chunk)
  return { controls, errors }
}

describe('FrameReader', () => {
  it('recognizes control frames and skips data of any length, however the bytes are cut', () => {
    const stream = Buffer.concat([
      mask(opcodes.text, bytes('hello')),
      mask(opcodes.ping, bytes('a')),
      mask(opcodes.binary, new Uint8Array(70_000)),
      mask(opcodes.text, new Uint8Array(300)),
      mask(opcodes.pong, new Uint8Array()),
      mask(opcodes.close, bytes('bye')),
    ])
    const expected = [
      [opcodes.ping, 'a'],
      [opcodes.pong, ''],
      [opcodes.close, 'bye'],
    ]
    for (const size of [1, 2, 3, 7, 1000, stream.length]) {
      const chunks: Uint8Array[] = []
      for (let i = 0; i < stream.length; i += size) chunks.push(stream.subarray(i, i + size))
      assert.deepEqual(readAll(chunks), { controls: expected, errors: [] })
    }
  })

  it('gives up on a client that violates the protocol', () => {
    assert.deepEqual(readAll([encodeFrame(opcodes.text, bytes('x'))]).errors, [
      'a frame of a client is not masked',
    ])
    assert.deepEqual(readAll([Uint8Array.of(0x83, 0x80, 0, 0, 0, 0)]).errors, ['unknown opcode'])
    assert.deepEqual(readAll([Uint8Array.of(0xc1, 0x80, 0, 0, 0, 0)]).errors, ['reserved bits are set'])
    assert.deepEqual(readAll([mask(opcodes.ping, new Uint8Array(126))]).errors, ['bad control frame'])
    const after = readAll([encodeFrame(opcodes.text, bytes('x')), mask(opcodes.ping, bytes('late'))])
    assert.deepEqual(after.controls, [])
  })
})

describe('acceptHandshake', () => {
  const headers = {
    origin: 'http://x',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }

  it('answers the key of the RFC as the RFC does', () => {
    const { status, headers: answer } = acceptHandshake(headers)
    assert.equal(status, 101)
    assert.equal(answer['sec-websocket-accept'], 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    assert.equal(answer['sec-websocket-protocol'], undefined)
  })

  it('accepts the first protocol that is not a token', () => {
    const offered = 'base64url.bearer.authorization.k8s.io.abc, v4.channel.k8s.io, other'
    const { headers: answer } = acceptHandshake({ ...headers, 'sec-websocket-protocol': offered })
    assert.equal(answer['sec-websocket-protocol'], 'v4.channel.k8s.io')
  })

  it('rejects a request without an Origin, with an invalid key or in another version', () => {
    const { origin: _, ...hidden } = headers
    assert.equal(acceptHandshake(hidden).status, 403)
    assert.equal(acceptHandshake({ ...headers, 'sec-websocket-key': 'short' }).status, 400)
    assert.deepEqual(acceptHandshake({ ...headers, 'sec-websocket-version': '8' }), {
      status: 400,
      headers: { 'sec-websocket-version': '13' },
    })
  })
})

/** Sends an upgrade and collects the response until the server ends. */
async function upgrade(
  handler: Handler,
  options: { headers?: readonly string[]; onHead?: (socket: Socket) => void } = {},
): Promise<{ head: string; rest: Buffer }> {
  await using server = await serve({ handler, upgrade: createWebSocketUpgrade({ handler }) })
  const socket = connect(server.port, '127.0.0.1')
  const lines = [
    'GET /watch?x=1 HTTP/1.1',
    'Host: x',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...(options.headers ?? ['Origin: http://x']),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  let all = Buffer.alloc(0)
  let started = false
  for await (const chunk of socket) {
    all = Buffer.concat([all, chunk])
    if (!started && all.includes('\r\n\r\n')) {
      started = true
      options.onHead?.(socket)
    }
  }
  const end = all.indexOf('\r\n\r\n')
  return { head: all.subarray(0, end).toString(), rest: all.subarray(end + 4) }
}

const stream = (body: AsyncIterable<Uint8Array>, type = 'application/json'): WireResponse => ({
  status: 200,
  headers: { 'content-type': type, 'audit-id': 'a' },
  body,
})

async function* events(...lines: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const line of lines) yield bytes(`${line}\n`)
}

describe('createWebSocketUpgrade', () => {
  it('sends one text frame per event, then closes', async () => {
    const { head, rest } = await upgrade(async request => {
      assert.equal(request.path, '/watch')
      assert.equal(request.query, 'x=1')
      return stream(events('{"a":1}', '{"b":2}'))
    })
    assert.match(head, /^HTTP\/1\.1 101 /)
    assert.match(head, /audit-id: a/)
    assert.deepEqual(
      rest,
      Buffer.concat([
        encodeFrame(opcodes.text, bytes('{"a":1}')),
        encodeFrame(opcodes.text, bytes('{"b":2}')),
        encodeFrame(opcodes.close, Uint8Array.of(3, 232)),
      ]),
    )
  })

  it('sends what is not JSON in binary frames, unchanged', async () => {
    const { rest } = await upgrade(async () => stream(events('x'), 'application/vnd.kubernetes.protobuf'))
    assert.deepEqual(rest.subarray(0, 4), Buffer.from(encodeFrame(opcodes.binary, bytes('x\n'))))
  })

  it('answers what is not a stream in plain HTTP', async () => {
    const { head, rest } = await upgrade(async () => ({
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: bytes('{"kind":"Status"}'),
    }))
    assert.match(head, /^HTTP\/1\.1 400 Bad Request/)
    assert.match(head, /content-length: 17/)
    assert.equal(rest.toString(), '{"kind":"Status"}')
  })

  it('rejects a request without an Origin and releases the stream', async () => {
    let released = false
    async function* body(): AsyncGenerator<Uint8Array> {
      try {
        yield bytes('{}\n')
      } finally {
        released = true
      }
    }
    const open = body()
    await open.next()
    const { head, rest } = await upgrade(async () => stream(open), { headers: [] })
    assert.match(head, /^HTTP\/1\.1 403 /)
    assert.equal(rest.length, 0)
    assert.equal(released, true)
  })

  it('answers a ping, ends when the client closes, and notifies the handler', async () => {
    const aborted = Promise.withResolvers<void>()
    async function* silent(signal: AbortSignal): AsyncGenerator<Uint8Array> {
      yield bytes('{}\n')
      await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
      aborted.resolve()
    }
    const { rest } = await upgrade(async request => stream(silent(request.signal)), {
      onHead: socket => {
        socket.write(mask(opcodes.ping, bytes('hi')))
        socket.write(mask(opcodes.close, Uint8Array.of(3, 232)))
      },
    })
    await aborted.promise
    assert.ok(rest.includes(encodeFrame(opcodes.pong, bytes('hi'))))
    assert.ok(rest.includes(encodeFrame(opcodes.close, Uint8Array.of(3, 232))))
  })
})
