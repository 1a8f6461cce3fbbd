import { encodeText } from '@coxswain/kit'
import type { WireBody } from '@coxswain/wire'

/** Lists are written in chunks of about this size: none needs a large piece of memory, and others get their turn. */
const chunkSize = 128 * 1024

/** Writes one item at a place where there is room for it, and gives the place after it. */
export interface ItemWriter<T> {
  /** Room that is enough for the item. */
  size(item: T): number
  write(item: T, target: Uint8Array, at: number): number
}

/**
 * `head`, the items with commas between them, `]}`. Small ones in one piece; the others item by item as the client
 * reads. `items` must not change.
 */
export function listBody<T>(head: string, items: readonly T[], writer: ItemWriter<T>): WireBody {
  const begin = encodeText(head)
  let room = begin.length + 2
  for (let i = 0; i < items.length && room <= chunkSize; i++) room += writer.size(items[i]!) + 1
  if (room <= chunkSize) {
    const [whole] = writeChunks(begin, items, writer, room)
    return whole!
  }
  return streamed(writeChunks(begin, items, writer, chunkSize))
}

/** As {@link listBody}, with items that have to be encoded first. */
export function encodedListBody<T>(
  head: string,
  items: readonly T[],
  encode: (item: T) => Uint8Array,
): WireBody {
  /** Encoded and not written yet. */
  const ready = new Map<T, Uint8Array>()
  const bytesOf = (item: T): Uint8Array => {
    let bytes = ready.get(item)
    if (!bytes) {
      bytes = encode(item)
      ready.set(item, bytes)
    }
    return bytes
  }
  return listBody(head, items, {
    size: item => bytesOf(item).length,
    write(item, target, at) {
      const bytes = bytesOf(item)
      ready.delete(item)
      target.set(bytes, at)
      return at + bytes.length
    },
  })
}

async function* streamed(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield* chunks
}

const comma = 0x2c
const bracket = 0x5d
const brace = 0x7d

function* writeChunks<T>(
  begin: Uint8Array,
  items: readonly T[],
  writer: ItemWriter<T>,
  size: number,
): Generator<Uint8Array, void, undefined> {
  let chunk = new Uint8Array(Math.max(size, begin.length + 2))
  chunk.set(begin)
  let used = begin.length
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!
    const room = writer.size(item) + 3
    if (used + room > chunk.length) {
      if (size < chunkSize) throw new Error('an item is longer than it said')
      yield chunk.subarray(0, used)
      chunk = new Uint8Array(Math.max(size, room))
      used = 0
    }
    if (i > 0) chunk[used++] = comma
    used = writer.write(item, chunk, used)
  }
  if (used + 2 > chunk.length) {
    yield chunk.subarray(0, used)
    chunk = new Uint8Array(2)
    used = 0
  }
  chunk[used++] = bracket
  chunk[used++] = brace
  yield chunk.subarray(0, used)
}
