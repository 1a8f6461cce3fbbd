import { joinChunks } from '../../body.ts'
import { opcodes } from './frame.ts'

export interface MessageListener {
  /** A whole message, its frames joined. */
  onMessage(message: Uint8Array): void
  /** A ping, pong or close frame, unmasked. */
  onControl(opcode: number, payload: Uint8Array): void
  /** The peer breaks the protocol; nothing after this is read. */
  onError(reason: string): void
}

/** Longer messages are refused: those who talk send pieces. */
const maxMessageBytes = 16 * 1024 * 1024

/** Reads the messages of a client: cuts bytes into masked frames, and joins frames to messages. */
export class MessageReader {
  readonly #listener: MessageListener
  #held: Uint8Array = new Uint8Array()
  #pieces: Uint8Array[] = []
  #pieceBytes = 0
  #inMessage = false
  #isBroken = false

  constructor(listener: MessageListener) {
    this.#listener = listener
  }

  push(chunk: Uint8Array): void {
    if (this.#isBroken) return
    this.#held = this.#held.length === 0 ? chunk : joinChunks([this.#held, chunk])
    for (let used = this.#readFrame(); used > 0; used = this.#readFrame())
      this.#held = this.#held.subarray(used)
  }

  /** How many bytes a frame took; 0 when it is not all there, or nothing is read any more. */
  #readFrame(): number {
    const bytes = this.#held
    if (this.#isBroken || bytes.length < 2) return 0
    const [first, second] = [bytes[0]!, bytes[1]!]
    if (first & 0x70) return this.#fail('reserved bits are set')
    if (!(second & 0x80)) return this.#fail('a frame of a client is not masked')
    const short = second & 0x7f
    const start = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + 4
    if (bytes.length < start) return 0
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const length = short === 126 ? view.getUint16(2) : short === 127 ? Number(view.getBigUint64(2)) : short
    if (length + this.#pieceBytes > maxMessageBytes) return this.#fail('a message is too long')
    if (bytes.length < start + length) return 0
    const payload = bytes.slice(start, start + length)
    for (let index = 0; index < length; index++) payload[index]! ^= bytes[start - 4 + (index & 3)]!
    this.#deliver(first & 0x0f, (first & 0x80) !== 0, payload)
    return start + length
  }

  #deliver(opcode: number, isFinal: boolean, payload: Uint8Array): void {
    if (opcode >= opcodes.close) {
      if (!isFinal || payload.length > 125 || opcode > opcodes.pong) this.#fail('bad control frame')
      else this.#listener.onControl(opcode, payload)
      return
    }
    if (opcode > opcodes.binary) {
      this.#fail('unknown opcode')
      return
    }
    if (this.#inMessage !== (opcode === opcodes.continuation)) {
      this.#fail('a message within a message')
      return
    }
    this.#inMessage = !isFinal
    this.#pieces.push(payload)
    this.#pieceBytes += payload.length
    if (!isFinal) return
    const message = this.#pieces.length === 1 ? payload : joinChunks(this.#pieces)
    this.#pieces = []
    this.#pieceBytes = 0
    this.#listener.onMessage(message)
  }

  #fail(reason: string): 0 {
    this.#isBroken = true
    this.#listener.onError(reason)
    return 0
  }
}
