import { concatBytes } from '@coxswain/kit'

/** Frame types (RFC 6455, 5.2). */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

const finalBit = 0x80
const maskBit = 0x80
/** The maximum payload of a control frame. */
const controlLimit = 125
/** The longest header: two bytes, eight of length, four of mask. */
const headLimit = 14

/** One frame with a whole message; `mask` for frames of a client, which must be masked. */
export function encodeFrame(opcode: number, payload: Uint8Array, mask?: Uint8Array): Uint8Array {
  const { length } = payload
  const lengthBytes = length <= 125 ? 0 : length <= 0xffff ? 2 : 8
  const start = 2 + lengthBytes + (mask ? 4 : 0)
  const frame = new Uint8Array(start + length)
  frame[0] = finalBit | opcode
  frame[1] = (mask ? maskBit : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127)
  if (lengthBytes === 2) new DataView(frame.buffer).setUint16(2, length)
  if (lengthBytes === 8) new DataView(frame.buffer).setBigUint64(2, BigInt(length))
  frame.set(payload, start)
  if (mask) {
    frame.set(mask, start - 4)
    applyMask(frame.subarray(start), mask, 0)
  }
  return frame
}

/** The payload of a close frame. */
export function closePayload(code: number): Uint8Array {
  return Uint8Array.of(code >> 8, code & 0xff)
}

/** What a frame reader calls. */
export interface FrameListener {
  /** A whole message, its frames joined. Without it messages are skipped, whatever their length. */
  onMessage?(message: Uint8Array): void
  /** A ping, pong or close frame. */
  onControl(opcode: number, payload: Uint8Array): void
  /** The peer violates the protocol; nothing after this is read. */
  onError(reason: string): void
}

/** Options of a frame reader. */
export interface FrameReaderOptions {
  /** The sender of the frames: those of a client must be masked. */
  readonly from: 'client' | 'server'
  /** Longer messages violate the protocol. @default 16 MiB */
  readonly maxMessageBytes?: number
}

interface Frame {
  readonly opcode: number
  readonly isFinal: boolean
  readonly mask: Uint8Array | undefined
  readonly pieces: Uint8Array[]
  readonly isKept: boolean
  read: number
  left: number
}

/** Splits bytes into frames and joins frames to messages. Buffers at most one message. */
export class FrameReader {
  readonly #listener: FrameListener
  readonly #isClient: boolean
  readonly #maxMessageBytes: number
  readonly #head = new Uint8Array(headLimit)
  #headBytes = 0
  #frame: Frame | undefined
  /** Of the message whose last frame has not arrived. */
  #pieces: Uint8Array[] = []
  #pieceBytes = 0
  #inMessage = false
  #isBroken = false

  constructor(listener: FrameListener, { from, maxMessageBytes = 16 * 1024 * 1024 }: FrameReaderOptions) {
    this.#listener = listener
    this.#isClient = from === 'client'
    this.#maxMessageBytes = maxMessageBytes
  }

  push(chunk: Uint8Array): void {
    let rest = chunk
    while (!this.#isBroken) {
      const frame = this.#frame
      if (frame) {
        const taken = rest.subarray(0, frame.left)
        rest = rest.subarray(taken.length)
        if (frame.isKept && taken.length > 0) frame.pieces.push(unmask(taken, frame))
        frame.read += taken.length
        frame.left -= taken.length
        if (frame.left > 0) return
        this.#frame = undefined
        this.#deliver(frame)
        continue
      }
      const taken = rest.subarray(0, this.#headNeeded() - this.#headBytes)
      if (taken.length === 0) return
      rest = rest.subarray(taken.length)
      this.#head.set(taken, this.#headBytes)
      this.#headBytes += taken.length
      if (this.#headBytes < this.#headNeeded()) continue
      const problem = this.#readHead()
      if (problem !== undefined) this.#fail(problem)
    }
  }

  /** The length of the header, as far as it is known. */
  #headNeeded(): number {
    if (this.#headBytes < 2) return 2
    const second = this.#head[1]!
    const short = second & 0x7f
    return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + (second & maskBit ? 4 : 0)
  }

  /** Continues with the payload, or reports what is wrong with the header. */
  #readHead(): string | undefined {
    const head = this.#head
    const [first, second] = [head[0]!, head[1]!]
    const opcode = first & 0x0f
    const isFinal = (first & finalBit) !== 0
    const isMasked = (second & maskBit) !== 0
    const isControl = opcode >= opcodes.close
    const short = second & 0x7f
    if (first & 0x70) return 'reserved bits are set'
    if (opcode > opcodes.pong || (opcode > opcodes.binary && !isControl)) return 'unknown opcode'
    if (this.#isClient && !isMasked) return 'a frame of a client is not masked'
    if (isControl && (short > controlLimit || !isFinal)) return 'bad control frame'
    const view = new DataView(head.buffer)
    const length = short === 126 ? view.getUint16(2) : short === 127 ? Number(view.getBigUint64(2)) : short
    const isKept = isControl || this.#listener.onMessage !== undefined
    if (isKept && !isControl) {
      if (length + this.#pieceBytes > this.#maxMessageBytes) return 'a message is too long'
      if (this.#inMessage !== (opcode === opcodes.continuation)) return 'a message within a message'
    }
    const mask = isMasked ? head.slice(this.#headBytes - 4, this.#headBytes) : undefined
    this.#headBytes = 0
    this.#frame = { opcode, isFinal, mask, pieces: [], isKept, read: 0, left: length }
    return undefined
  }

  #deliver({ opcode, isFinal, pieces, isKept, read }: Frame): void {
    if (!isKept) return
    if (opcode >= opcodes.close) {
      this.#listener.onControl(opcode, join(pieces))
      return
    }
    this.#inMessage = !isFinal
    for (const piece of pieces) this.#pieces.push(piece)
    this.#pieceBytes += read
    if (!isFinal) return
    const message = join(this.#pieces)
    this.#pieces = []
    this.#pieceBytes = 0
    this.#listener.onMessage?.(message)
  }

  #fail(reason: string): void {
    this.#isBroken = true
    this.#pieces = []
    this.#listener.onError(reason)
  }
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : concatBytes(pieces)
}

/** A copy: the pushed bytes stay their owner's. */
function unmask(bytes: Uint8Array, { mask, read }: Frame): Uint8Array {
  const copy = new Uint8Array(bytes)
  if (mask) applyMask(copy, mask, read)
  return copy
}

function applyMask(bytes: Uint8Array, mask: Uint8Array, offset: number): void {
  for (let index = 0; index < bytes.length; index++) bytes[index]! ^= mask[(offset + index) & 3]!
}
