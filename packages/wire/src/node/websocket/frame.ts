import { concatBytes } from '@coxswain/kit'

/** What a frame is (RFC 6455, 5.2). */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Longest payload of a control frame. */
const controlLimit = 125

/** One unfragmented, unmasked frame, as servers send them. */
export function encodeFrame(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload
  const head = length <= 125 ? 2 : length <= 0xffff ? 4 : 10
  const frame = new Uint8Array(head + length)
  frame[0] = 0x80 | opcode
  if (head === 2) frame[1] = length
  else {
    const view = new DataView(frame.buffer)
    frame[1] = head === 4 ? 126 : 127
    if (head === 4) view.setUint16(2, length)
    else view.setBigUint64(2, BigInt(length))
  }
  frame.set(payload, head)
  return frame
}

/** The payload of a close frame. */
export function closePayload(code: number): Uint8Array {
  return Uint8Array.of(code >> 8, code & 0xff)
}

export interface FrameListener {
  /** A ping, pong or close frame, unmasked. */
  onControl(opcode: number, payload: Uint8Array): void
  /** The peer breaks the protocol; nothing after this is read. */
  onError(reason: string): void
}

type ReaderState =
  | { readonly phase: 'head'; readonly needed: number }
  /** Payload of a control frame, kept. */
  | { readonly phase: 'control'; readonly needed: number; readonly opcode: number; readonly mask: Uint8Array }
  /** Payload of a data frame, passed over. */
  | { phase: 'skip'; left: number }
  | { readonly phase: 'broken' }

/**
 * Reads the frames of a client that has nothing to say: control frames are told, data is thrown away as it comes, so
 * that a frame of any length costs no memory.
 */
export class FrameReader {
  readonly #listener: FrameListener
  #held: Uint8Array = new Uint8Array()
  #state: ReaderState = { phase: 'head', needed: 2 }

  constructor(listener: FrameListener) {
    this.#listener = listener
  }

  push(chunk: Uint8Array): void {
    let rest = chunk
    while (rest.length > 0) {
      const state = this.#state
      if (state.phase === 'broken') return
      if (state.phase === 'skip') {
        const skipped = Math.min(state.left, rest.length)
        state.left -= skipped
        rest = rest.subarray(skipped)
        if (state.left === 0) this.#state = { phase: 'head', needed: 2 }
        continue
      }
      const taken = rest.subarray(0, state.needed - this.#held.length)
      rest = rest.subarray(taken.length)
      this.#held = concat(this.#held, taken)
      if (this.#held.length < state.needed) return
      const bytes = this.#held
      this.#state = state.phase === 'head' ? this.#readHead(bytes) : this.#readControl(state, bytes)
      if (this.#state.phase !== 'head' || this.#state.needed === 2) this.#held = new Uint8Array()
    }
  }

  /** What comes after the bytes of a head that are there: more of the head, or the payload. */
  #readHead(bytes: Uint8Array): ReaderState {
    const opcode = bytes[0]! & 0x0f
    const isControl = opcode >= 8
    const short = bytes[1]! & 0x7f
    if (bytes[0]! & 0x70) return this.#fail('reserved bits are set')
    if (opcode > 10 || (opcode > 2 && !isControl)) return this.#fail('unknown opcode')
    if (!(bytes[1]! & 0x80)) return this.#fail('a frame of a client is not masked')
    if (isControl && (short > controlLimit || !(bytes[0]! & 0x80))) return this.#fail('bad control frame')
    const needed = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + 4
    if (bytes.length < needed) return { phase: 'head', needed }
    const view = new DataView(bytes.buffer, bytes.byteOffset)
    const length = short === 126 ? view.getUint16(2) : short === 127 ? Number(view.getBigUint64(2)) : short
    if (!isControl) return length === 0 ? { phase: 'head', needed: 2 } : { phase: 'skip', left: length }
    const mask = bytes.slice(needed - 4, needed)
    if (length > 0) return { phase: 'control', needed: length, opcode, mask }
    this.#listener.onControl(opcode, new Uint8Array())
    return { phase: 'head', needed: 2 }
  }

  #readControl(
    state: { readonly opcode: number; readonly mask: Uint8Array },
    bytes: Uint8Array,
  ): ReaderState {
    this.#listener.onControl(
      state.opcode,
      bytes.map((byte, index) => byte ^ state.mask[index % 4]!),
    )
    return { phase: 'head', needed: 2 }
  }

  #fail(reason: string): ReaderState {
    this.#listener.onError(reason)
    return { phase: 'broken' }
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.length === 0 ? b : concatBytes([a, b])
}
