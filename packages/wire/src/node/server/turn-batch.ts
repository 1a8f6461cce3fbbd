import { joinChunks } from '../../body.ts'

/** What one stream sends next. */
export interface TurnBatch {
  /** Empty between turns. */
  chunks: Uint8Array[]
  flush(bytes: Uint8Array): void
}

let dirty: TurnBatch[] = []
let lastChunks: readonly Uint8Array[] = []
let lastJoined = new Uint8Array()

/** Adds a chunk that is sent when the current producer of chunks is done, and before what follows from it: responses to writes, for instance. */
export function addToTurn(batch: TurnBatch, chunk: Uint8Array): void {
  if (batch.chunks.length === 0) {
    if (dirty.length === 0) queueMicrotask(flushAll)
    dirty.push(batch)
  }
  batch.chunks.push(chunk)
}

function flushAll(): void {
  const batches = dirty
  dirty = []
  for (const batch of batches) {
    const { chunks } = batch
    batch.chunks = []
    batch.flush(chunks.length === 1 ? chunks[0]! : joinOnce(chunks))
  }
  lastChunks = []
}

/** A thousand watchers of one collection get the same events: they are joined once. */
function joinOnce(chunks: readonly Uint8Array[]): Uint8Array {
  const isSame =
    chunks.length === lastChunks.length && chunks.every((chunk, index) => chunk === lastChunks[index])
  if (!isSame) {
    lastJoined = joinChunks(chunks) as Uint8Array<ArrayBuffer>
    lastChunks = chunks
  }
  return lastJoined
}
