import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { constants, createDeflate, createInflate } from 'node:zlib'
import type { Conversation, Handler, MessageChannel } from '../../message.ts'
import { encodeFrame, FrameReader, opcodes } from '../../websocket/frames.ts'
import { serve } from '../server/serve.ts'
import { headerDictionary } from '../spdy/dictionary.ts'
import { acceptSpdy } from '../spdy/session.ts'
import { createWebSocketUpgrade } from './upgrade.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (data: Uint8Array) => new TextDecoder().decode(data)

/** A frame as clients send them: masked. `final` is false for a fragment. */
function mask(opcode: number, payload: Uint8Array, final = true): Uint8Array {
  const plain = encodeFrame(opcode, payload)
  const at = plain.length - payload.length
  const key = Uint8Array.of(1, 2, 3, 4)
  const frame = new Uint8Array(plain.length + 4)
  frame.set(plain.subarray(0, at))
  frame[0] = (final ? 0x80 : 0) | opcode
  frame[1]! |= 0x80
  frame.set(key, at)
  frame.set(
    payload.map((byte, i) => byte ^ key[i % 4]!),
    at + 4,
  )
  return frame
}

async function upgrade(
  conversation: Conversation,
  headers: readonly string[],
  sent: Uint8Array,
): Promise<{ head: string; rest: Buffer }> {
  const handler: Handler = async () => ({ status: 101, headers: { 'audit-id': 'a' }, conversation })
  await using server = await serve({ handler, upgrade: createWebSocketUpgrade({ handler }) })
  const socket = connect(server.port, '127.0.0.1')
  socket.write(
    `${['POST /exec HTTP/1.1', 'Host: x', 'Connection: Upgrade', ...headers].join('\r\n')}\r\n\r\n`,
  )
  let all = Buffer.alloc(0)
  let started = false
  for await (const chunk of socket) {
    all = Buffer.concat([all, chunk])
    if (started || !all.includes('\r\n\r\n')) continue
    started = true
    socket.write(sent)
  }
  const end = all.indexOf('\r\n\r\n')
  return { head: all.subarray(0, end).toString(), rest: all.subarray(end + 4) }
}

const webSocket = (protocols: string) => [
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
  `Sec-WebSocket-Protocol: ${protocols}`,
]

/** Sends the name of its protocol, then echoes each message until one asks it to stop. */
const echo: Conversation = {
  protocols: ['v5', 'v4'],
  async talk({ messages, send, protocol }) {
    await send(bytes(protocol))
    for await (const message of messages) {
      if (text(message) === 'end') return
      await send(message)
    }
  },
}

describe('a conversation', () => {
  it('goes both ways over WebSocket, in the first protocol that both support', async () => {
    const sent = Buffer.concat([
      mask(opcodes.binary, bytes('he'), false),
      mask(opcodes.ping, bytes('p')),
      mask(opcodes.continuation, bytes('llo')),
      mask(opcodes.binary, new Uint8Array(70_000)),
      mask(opcodes.text, bytes('end')),
    ])
    const { head, rest } = await upgrade(echo, webSocket('v9, v4, v5'), sent)
    assert.match(head, /^HTTP\/1\.1 101 /)
    assert.match(head, /sec-websocket-protocol: v4/)
    assert.match(head, /audit-id: a/)
    const frames = [
      encodeFrame(opcodes.binary, bytes('v4')),
      encodeFrame(opcodes.pong, bytes('p')),
      encodeFrame(opcodes.binary, bytes('hello')),
      encodeFrame(opcodes.binary, new Uint8Array(70_000)),
      encodeFrame(opcodes.close, Uint8Array.of(3, 232)),
    ]
    assert.ok(rest.equals(Buffer.concat(frames)), rest.subarray(0, 64).toString('hex'))
  })

  it('does not begin without a common protocol', async () => {
    const { head, rest } = await upgrade(echo, webSocket('v9'), new Uint8Array())
    assert.match(head, /^HTTP\/1\.1 403 /)
    assert.match(rest.toString(), /client supports \["v9"\], server accepts \["v5","v4"\]/)
  })

  it('ends for the handler when the client disconnects', async () => {
    let ended = false
    const conversation: Conversation = {
      protocols: ['v4'],
      async talk({ messages }) {
        for await (const _ of messages);
        ended = true
      },
    }
    await upgrade(conversation, webSocket('v4'), mask(opcodes.close, Uint8Array.of(3, 232)))
    assert.equal(ended, true)
  })

  it('is raw bytes for SPDY', async () => {
    const conversation: Conversation = {
      protocols: ['v4'],
      async talk({ messages, send }) {
        for await (const message of messages) {
          await send(message)
          return
        }
      },
    }
    const headers = ['Upgrade: SPDY/3.1', 'X-Stream-Protocol-Version: v5', 'X-Stream-Protocol-Version: v4']
    const { head, rest } = await upgrade(conversation, headers, bytes('raw'))
    assert.match(head, /upgrade: SPDY\/3\.1/)
    assert.match(head, /x-stream-protocol-version: v4/)
    assert.equal(rest.toString(), 'raw')
  })
})

describe('messages of a client', () => {
  it('are rejected when they violate the protocol', () => {
    const problems = (chunk: Uint8Array) => {
      const errors: string[] = []
      const reader = new FrameReader(
        { onMessage: () => {}, onControl: () => {}, onError: reason => errors.push(reason) },
        { from: 'client' },
      )
      reader.push(chunk)
      reader.push(mask(opcodes.text, bytes('late')))
      return errors
    }
    assert.deepEqual(problems(encodeFrame(opcodes.text, bytes('x'))), ['a frame of a client is not masked'])
    assert.deepEqual(problems(Uint8Array.of(0xc1, 0x80, 0, 0, 0, 0)), ['reserved bits are set'])
    assert.deepEqual(problems(mask(opcodes.continuation, bytes('x'))), ['a message within a message'])
    assert.deepEqual(problems(mask(opcodes.ping, new Uint8Array(126))), ['bad control frame'])
    assert.deepEqual(problems(Uint8Array.of(0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4)), [
      'a message is too long',
    ])
  })
})

function word(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeUInt32BE(value)
  return buffer
}

function control(type: number, flags: number, payload: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.of(0x80, 3, type >> 8, type & 0xff),
    word((flags << 24) | payload.length),
    payload,
  ])
}

describe('acceptSpdy', () => {
  it('opens streams by their compressed headers, carries data both ways, and answers pings', async () => {
    const deflate = createDeflate({ dictionary: headerDictionary })
    const compressed: Buffer[] = []
    deflate.on('data', piece => compressed.push(piece))
    const flushed = () =>
      new Promise<Buffer>(resolve =>
        deflate.flush(constants.Z_SYNC_FLUSH, () => resolve(Buffer.concat(compressed.splice(0)))),
      )
    const headers = Buffer.concat([word(1), word(10), bytes('streamType'), word(5), bytes('error')])
    deflate.write(headers)
    const first = await flushed()
    deflate.write(headers)
    const second = await flushed()
    const syn = (id: number, block: Buffer) =>
      control(1, 0, Buffer.concat([word(id), word(0), Buffer.of(0, 0), block]))
    const data = (id: number, flags: number, payload: string) =>
      Buffer.concat([word(id), word((flags << 24) | payload.length), bytes(payload)])
    const input = Buffer.concat([
      syn(1, first),
      syn(3, second),
      data(1, 0, 'he'),
      data(1, 1, 'llo'),
      control(6, 0, word(7)),
    ])
    const sent: Buffer[] = []
    const received: string[] = []
    const work: Promise<void>[] = []
    const channel: MessageChannel = {
      protocol: '',
      messages: (async function* () {
        for (let at = 0; at < input.length; at += 5) yield input.subarray(at, at + 5)
      })(),
      send: async message => void sent.push(Buffer.from(message)),
    }
    await acceptSpdy(channel, stream => {
      assert.equal(stream.headers.get('streamtype'), 'error')
      const talk = async () => {
        for await (const chunk of stream.data) received.push(text(chunk))
        await stream.write(bytes('bye'))
        await stream.end()
        await stream.write(bytes('late'))
      }
      work.push(talk())
    })
    await Promise.all(work)
    assert.deepEqual(received, ['he', 'llo'])
    const output = Buffer.concat(sent)
    assert.ok(output.includes(control(6, 0, word(7))))
    assert.ok(output.includes(data(1, 0, 'bye')))
    assert.ok(output.includes(data(3, 1, '')))
    assert.ok(!output.includes('late'))
    const reply = sent[0]!
    assert.deepEqual(reply.subarray(0, 4), Buffer.of(0x80, 3, 0, 2))
    const inflate = createInflate({ dictionary: headerDictionary })
    inflate.write(reply.subarray(12))
    const plain = await new Promise<Buffer>(resolve => inflate.once('data', resolve))
    assert.deepEqual(plain, word(0))
    deflate.destroy()
    inflate.destroy()
  })
})
