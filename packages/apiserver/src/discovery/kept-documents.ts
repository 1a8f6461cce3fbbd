import { concatBytes, encodeHex, encodeText, Sha256 } from '@coxswain/kit'
import type { WireBody } from '@coxswain/wire'
import { Slices, type Turns } from '../cache/slices.ts'
import type { Compression } from '../request/compression.ts'

/** A cached document: built once for all readers, compressed when it is large. */
export interface KeptDocument {
  /** The hash of the content, in upper case. */
  readonly hash: string
  /** The uncompressed length. */
  readonly length: number
  readonly bytes: Uint8Array
  readonly packed: boolean
}

/** Builds a document piece by piece; empty pieces are places to yield. */
export type Pieces = Iterable<string | Uint8Array>

interface Entry {
  readonly of: readonly unknown[]
  document: Promise<KeptDocument>
}

/** Smaller documents are not compressed. */
const packedFrom = 16 * 1024
/** Pieces are joined to chunks of about this size. */
const chunkSize = 64 * 1024

/**
 * Documents by name. A document is built when first requested, and again when its inputs have changed; one at a time, in
 * slices, so that neither many readers nor rapid changes cost more than one build.
 */
export class KeptDocuments {
  readonly #turns: Turns
  readonly #compression: Compression | undefined
  readonly #entries = new Map<string, Entry>()
  /** Resolves when the current build is done. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(turns: Turns, compression?: Compression) {
    this.#turns = turns
    this.#compression = compression
  }

  /** The document of this name. `of`, its inputs, are compared by element. */
  get(name: string, of: readonly unknown[], pieces: () => Pieces): Promise<KeptDocument> {
    const known = this.#entries.get(name)
    if (known && isSame(known.of, of)) return known.document
    // If `of` changes again before its turn, readers get the newest.
    const isNewest = () => this.#entries.get(name) === entry
    const made = this.#turn.then(() => (isNewest() ? this.#make(pieces()) : undefined))
    const document = made.then(own => own ?? this.#entries.get(name)?.document ?? this.#make(pieces()))
    const entry: Entry = { of, document }
    this.#entries.set(name, entry)
    this.#turn = made.catch(() => {
      if (isNewest()) this.#entries.delete(name)
    })
    return document
  }

  /** Drops the documents whose names are not in `wanted`. */
  keepOnly(isWanted: (name: string) => boolean): void {
    for (const name of this.#entries.keys()) if (!isWanted(name)) this.#entries.delete(name)
  }

  /** The uncompressed document: streamed when it is kept compressed, so that no reader holds a copy. */
  plain({ bytes, packed }: KeptDocument): WireBody {
    if (!packed) return bytes
    return this.#compression!.gunzip(streamed([bytes]))
  }

  async #make(pieces: Pieces): Promise<KeptDocument> {
    const hash = new Sha256()
    let length = 0
    const chunks = measured(inChunks(pieces, this.#turns), chunk => {
      hash.update(chunk)
      length += chunk.length
    })
    const first = await chunks.next()
    const begin = first.done ? new Uint8Array(0) : first.value
    const packed = this.#compression !== undefined && begin.length >= packedFrom
    const rest = followed(begin, chunks)
    const bytes = await collect(packed ? this.#compression!.pack(rest) : rest)
    return { hash: encodeHex(hash.digest()).toUpperCase(), length, bytes, packed }
  }
}

/** Encodes and joins pieces, yielding in between. */
async function* inChunks(pieces: Pieces, turns: Turns): AsyncGenerator<Uint8Array, void, undefined> {
  const slices = new Slices(turns)
  let waiting: Uint8Array[] = []
  let size = 0
  for (const piece of pieces) {
    if (slices.isUsedUp) await slices.next()
    if (piece.length === 0) continue
    const bytes = typeof piece === 'string' ? encodeText(piece) : piece
    waiting.push(bytes)
    size += bytes.length
    if (size < chunkSize) continue
    yield concatBytes(waiting)
    waiting = []
    size = 0
  }
  if (size > 0) yield concatBytes(waiting)
}

async function* measured(
  chunks: AsyncIterable<Uint8Array>,
  look: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    look(chunk)
    yield chunk
  }
}

async function* followed(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield first
  yield* rest
}

async function* streamed(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield* chunks
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const list: Uint8Array[] = []
  for await (const chunk of chunks) list.push(chunk)
  return concatBytes(list)
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((one, i) => one === b[i]))
}
