import { concatBytes, encodeText } from '@coxswain/kit'
import type { WireBody } from '@coxswain/wire'
import { Slices, type Turns } from '../cache/slices.ts'

/** Lists are written in chunks of about this size: none needs a large buffer, and other requests get their turn. */
const chunkSize = 128 * 1024

/** Writes an item at a position with enough space, and returns the position after it. */
export interface ItemWriter<T> {
  /** Enough space for the item. */
  size(item: T): number
  write(item: T, target: Uint8Array, at: number): number
}

/**
 * `head`, the comma-separated items, `]}` and a newline. Small lists in one chunk; others item by item as the client
 * reads. `items` must not change.
 */
export function listBody<T>(head: string, items: readonly T[], writer: ItemWriter<T>): WireBody {
  const begin = encodeText(head)
  let room = begin.length + end.length
  for (let i = 0; i < items.length && room <= chunkSize; i++) room += writer.size(items[i]!) + 1
  if (room <= chunkSize) {
    const [whole] = writeChunks(begin, items, writer, room)
    return whole!
  }
  return streamed(writeChunks(begin, items, writer, chunkSize))
}

/**
 * A body of pieces that are expensive to encode. Small ones in one chunk; others as the client reads, yielding
 * between slices.
 */
export function piecesBody(pieces: Iterable<Uint8Array>, turns: Turns): WireBody {
  const chunks = joinedChunks(pieces)
  const first = chunks.next()
  const second = chunks.next()
  if (second.done) return first.value ?? new Uint8Array(0)
  return madeAsRead([first.value!, second.value], chunks, turns)
}

/** The pieces of a JSON list. */
export function* jsonPieces(
  head: string,
  items: Iterable<Uint8Array>,
): Generator<Uint8Array, void, undefined> {
  yield encodeText(head)
  let isFirst = true
  for (const item of items) {
    if (!isFirst) yield separator
    isFirst = false
    yield item
  }
  yield end
}

function* joinedChunks(pieces: Iterable<Uint8Array>): Generator<Uint8Array, void, undefined> {
  let waiting: Uint8Array[] = []
  let size = 0
  for (const piece of pieces) {
    waiting.push(piece)
    size += piece.length
    if (size < chunkSize) continue
    yield concatBytes(waiting)
    waiting = []
    size = 0
  }
  if (size > 0) yield concatBytes(waiting)
}

async function* madeAsRead(
  made: readonly Uint8Array[],
  rest: Iterable<Uint8Array>,
  turns: Turns,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* made
  const slices = new Slices(turns)
  for (const chunk of rest) {
    yield chunk
    if (slices.isUsedUp) await slices.next()
  }
}

async function* streamed(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield* chunks
}

const comma = 0x2c
const separator = Uint8Array.of(comma)
const end: Uint8Array = encodeText(']}\n')

function* writeChunks<T>(
  begin: Uint8Array,
  items: readonly T[],
  writer: ItemWriter<T>,
  size: number,
): Generator<Uint8Array, void, undefined> {
  let chunk = new Uint8Array(Math.max(size, begin.length + end.length))
  chunk.set(begin)
  let used = begin.length
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!
    const room = writer.size(item) + 1 + end.length
    if (used + room > chunk.length) {
      if (size < chunkSize) throw new Error('an item exceeds its declared size')
      yield chunk.subarray(0, used)
      chunk = new Uint8Array(Math.max(size, room))
      used = 0
    }
    if (i > 0) chunk[used++] = comma
    used = writer.write(item, chunk, used)
  }
  if (used + end.length > chunk.length) {
    yield chunk.subarray(0, used)
    yield end
    return
  }
  chunk.set(end, used)
  yield chunk.subarray(0, used + end.length)
}
