import { concatBytes } from '@coxswain/kit'

/** What a frame is (RFC 6455, 5.2). */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

const finalBit = 0x80
const maskBit = 0x80

/** One frame that is a whole message, masked with `mask` as those of a client have to be. */
export function encodeFrame(opcode: number, payload: Uint8Array, mask?: Uint8Array): Uint8Array {
  const { length } = payload
  const lengthBytes = length <= 125 ? 0 : length <= 0xffff ? 2 : 8
  const start = 2 + lengthBytes + (mask ? 4 : 0)
  const frame = new Uint8Array(start + length)
  const view = new DataView(frame.buffer)
  frame[0] = finalBit | opcode
  frame[1] = (mask ? maskBit : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127)
  if (lengthBytes === 2) view.setUint16(2, length)
  if (lengthBytes === 8) view.setBigUint64(2, BigInt(length))
  frame.set(payload, start)
  if (mask) {
    frame.set(mask, start - 4)
    applyMask(frame.subarray(start), mask)
  }
  return frame
}

export interface FrameListener {
  /** A whole message, its pieces joined. */
  onMessage(message: Uint8Array): void
  /** Ping, pong or close. */
  onControl(opcode: number, payload: Uint8Array): void
}

/** Cuts bytes into frames, and joins frames to messages. Throws when the peer breaks the protocol. */
export class FrameParser {
  readonly #listener: FrameListener
  readonly #maxMessageBytes: number
  #held: Uint8Array = new Uint8Array()
  #pieces: Uint8Array[] = []
  #pieceBytes = 0
  #inMessage = false

  constructor(listener: FrameListener, maxMessageBytes: number) {
    this.#listener = listener
    this.#maxMessageBytes = maxMessageBytes
  }

  push(chunk: Uint8Array): void {
    this.#held = this.#held.length === 0 ? chunk : concatBytes([this.#held, chunk])
    for (let used = this.#parse(); used > 0; used = this.#parse()) this.#held = this.#held.subarray(used)
  }

  /** How many bytes one frame took; 0 when it is not all there. */
  #parse(): number {
    const bytes = this.#held
    if (bytes.length < 2) return 0
    const [first, second] = [bytes[0]!, bytes[1]!]
    if (first & 0x70) throw new Error('reserved bits are set')
    const opcode = first & 0x0f
    const short = second & 0x7f
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
    const start = 2 + lengthBytes + (second & maskBit ? 4 : 0)
    if (bytes.length < start) return 0
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const length =
      lengthBytes === 2 ? view.getUint16(2) : lengthBytes === 8 ? Number(view.getBigUint64(2)) : short
    if (length + this.#pieceBytes > this.#maxMessageBytes) throw new Error('a message is too long')
    if (bytes.length < start + length) return 0
    const payload = bytes.slice(start, start + length)
    if (second & maskBit) applyMask(payload, bytes.subarray(start - 4, start))
    this.#deliver(opcode, (first & finalBit) !== 0, payload)
    return start + length
  }

  #deliver(opcode: number, isFinal: boolean, payload: Uint8Array): void {
    if (opcode >= opcodes.close) {
      if (!isFinal || payload.length > 125 || opcode > opcodes.pong) throw new Error('bad control frame')
      this.#listener.onControl(opcode, payload)
      return
    }
    if (opcode > opcodes.binary) throw new Error('unknown opcode')
    if (this.#inMessage !== (opcode === opcodes.continuation)) throw new Error('a message within a message')
    this.#inMessage = !isFinal
    this.#pieces.push(payload)
    this.#pieceBytes += payload.length
    if (!isFinal) return
    const message = this.#pieces.length === 1 ? payload : concatBytes(this.#pieces)
    this.#pieces = []
    this.#pieceBytes = 0
    this.#listener.onMessage(message)
  }
}

function applyMask(bytes: Uint8Array, mask: Uint8Array): void {
  for (let index = 0; index < bytes.length; index++) bytes[index]! ^= mask[index & 3]!
}
