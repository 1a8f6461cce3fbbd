import { isStream, type WireBody } from '@coxswain/wire'
import { Slices, type Turns } from '../cache/slices.ts'

const chunkSize = 64 * 1024
const newline = 0x0a
const space = 0x20
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c

/** Indents a stream of JSON as Go's encoder does, by two spaces. */
class Indenter {
  #chunk = new Uint8Array(chunkSize)
  #used = 0
  #depth = 0
  #isInText = false
  #isEscaped = false
  /** Whether an object or array has just begun: an empty one stays on its line. */
  #isEmpty = false

  /** The rest. */
  end(): Uint8Array {
    return this.#chunk.subarray(0, this.#used)
  }

  /** The full chunks. */
  *add(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!
      const needed = 2 * this.#depth + 8
      if (this.#used + needed > this.#chunk.length) {
        yield this.#chunk.subarray(0, this.#used)
        this.#chunk = new Uint8Array(Math.max(chunkSize, needed))
        this.#used = 0
      }
      if (this.#isInText) this.#text(byte)
      else this.#token(byte)
    }
  }

  #text(byte: number): void {
    this.#put(byte)
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === quote) this.#isInText = false
  }

  #token(byte: number): void {
    if (byte <= space) return
    const isEnd = byte === 0x7d || byte === 0x5d
    if (isEnd) {
      this.#depth--
      if (!this.#isEmpty) this.#line()
    } else if (this.#isEmpty) this.#line()
    this.#isEmpty = false
    this.#put(byte)
    if (byte === 0x7b || byte === 0x5b) {
      this.#depth++
      this.#isEmpty = true
    } else if (byte === comma) this.#line()
    else if (byte === colon) this.#put(space)
    else if (byte === quote) this.#isInText = true
  }

  #line(): void {
    this.#put(newline)
    this.#chunk.fill(space, this.#used, this.#used + 2 * this.#depth)
    this.#used += 2 * this.#depth
  }

  #put(byte: number): void {
    this.#chunk[this.#used++] = byte
  }
}

/** The body with its JSON indented: in one chunk when it is small, streamed otherwise. */
export function indentedBody(body: WireBody, turns: Turns): WireBody {
  const indenter = new Indenter()
  if (!(body instanceof Uint8Array)) return indentedChunks(body, indenter, turns)
  const chunks = indenter.add(body)
  const first = chunks.next()
  return first.done ? indenter.end() : indentedRest(first.value, chunks, indenter, turns)
}

async function* indentedRest(
  first: Uint8Array,
  rest: Iterable<Uint8Array>,
  indenter: Indenter,
  turns: Turns,
): AsyncGenerator<Uint8Array, void, undefined> {
  const slices = new Slices(turns)
  yield first
  for (const chunk of rest) {
    if (slices.isUsedUp) await slices.next()
    yield chunk
  }
  yield indenter.end()
}

async function* indentedChunks(
  body: readonly Uint8Array[] | AsyncIterable<Uint8Array>,
  indenter: Indenter,
  turns: Turns,
): AsyncGenerator<Uint8Array, void, undefined> {
  const slices = new Slices(turns)
  for await (const bytes of isStream(body) ? body : body.values()) {
    for (const chunk of indenter.add(bytes)) {
      if (slices.isUsedUp) await slices.next()
      yield chunk
    }
  }
  yield indenter.end()
}
