import type { Duplex } from 'node:stream'
import { AsyncQueue } from '@coxswain/kit'
import type { MessageChannel } from '../../message.ts'
import { closePayload, encodeFrame, FrameReader, opcodes } from '../../websocket/frames.ts'

/** How many messages are buffered before the client has to wait. */
const waitingLimit = 64
/** How long a client may take to answer a close. */
const closeTimeout = 1_000

type Talk = (channel: MessageChannel) => Promise<void>

/** The server's side of a WebSocket after the handshake. Resolves when the connection is closed. */
export async function openMessageChannel(
  socket: Duplex,
  head: Uint8Array,
  protocol: string,
  talk: Talk,
): Promise<void> {
  const received = new AsyncQueue<Uint8Array>()
  let isOver = false
  const close = (payload: Uint8Array) => {
    if (isOver) return
    isOver = true
    if (!socket.writableEnded) socket.end(encodeFrame(opcodes.close, payload))
  }
  const reader = new FrameReader(
    {
      onMessage(message) {
        received.push(message)
        if (received.size >= waitingLimit) socket.pause()
      },
      onControl(opcode, payload) {
        if (opcode === opcodes.ping && !isOver) socket.write(encodeFrame(opcodes.pong, payload))
        if (opcode !== opcodes.close) return
        received.end()
        close(payload.length < 2 ? closePayload(1000) : payload.subarray(0, 2))
      },
      onError() {
        received.end()
        close(closePayload(1002))
      },
    },
    { from: 'client' },
  )
  socket.on('data', (chunk: Uint8Array) => reader.push(chunk))
  socket.on('end', () => received.end())
  socket.on('close', () => received.end())
  if (head.length > 0) reader.push(head)
  try {
    await talk({
      protocol,
      messages: resumingAfter(received, socket),
      send: async message => {
        if (!isOver) await write(socket, encodeFrame(opcodes.binary, message))
      },
    })
  } finally {
    close(closePayload(1000))
    await closed(socket)
  }
}

/** The raw bytes of a connection. Resolves when it is closed. */
export async function openByteChannel(
  socket: Duplex,
  head: Uint8Array,
  protocol: string,
  talk: Talk,
): Promise<void> {
  const received = new AsyncQueue<Uint8Array>()
  if (head.length > 0) received.push(head)
  socket.on('data', (chunk: Uint8Array) => {
    received.push(chunk)
    if (received.size >= waitingLimit) socket.pause()
  })
  socket.on('end', () => received.end())
  socket.on('close', () => received.end())
  try {
    await talk({
      protocol,
      messages: resumingAfter(received, socket),
      send: async message => await write(socket, message),
    })
  } finally {
    if (!socket.writableEnded) socket.end()
    await closed(socket)
  }
}

async function* resumingAfter(
  received: AsyncQueue<Uint8Array>,
  socket: Duplex,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const message of received) {
    if (received.size < waitingLimit) socket.resume()
    yield message
  }
}

async function write(socket: Duplex, bytes: Uint8Array): Promise<void> {
  if (socket.destroyed || socket.writableEnded || socket.write(bytes)) return
  await new Promise<void>(resolve => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}

/** The client gets a moment to close its side. */
async function closed(socket: Duplex): Promise<void> {
  if (socket.destroyed) return
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), closeTimeout)
  await new Promise<void>(resolve => socket.once('close', () => resolve()))
  clearTimeout(timer)
}
