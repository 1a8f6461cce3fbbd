import { joinChunks } from '../../body.ts'

/** What one stream sends next. */
export interface TurnBatch {
  /** Empty between turns. */
  chunks: Uint8Array[]
  flush(bytes: Uint8Array): void
}

let dirty: TurnBatches[] = []
let lastChunks: readonly Uint8Array[] = []
let lastJoined = new Uint8Array()

/** The streams of one connection. */
export class TurnBatches {
  #dirty: TurnBatch[] = []

  /** Adds a chunk that is sent once all promise callbacks that can run now have run. */
  add(batch: TurnBatch, chunk: Uint8Array): void {
    if (batch.chunks.length === 0) {
      if (this.#dirty.length === 0) {
        if (dirty.length === 0) process.nextTick(flushAll)
        dirty.push(this)
      }
      this.#dirty.push(batch)
    }
    batch.chunks.push(chunk)
  }

  /** Sends what is buffered: a response follows that must not overtake it. */
  flush(): void {
    if (this.#dirty.length === 0) return
    const batches = this.#dirty
    this.#dirty = []
    for (const batch of batches) {
      const { chunks } = batch
      batch.chunks = []
      batch.flush(chunks.length === 1 ? chunks[0]! : joinOnce(chunks))
    }
  }
}

function flushAll(): void {
  const all = dirty
  dirty = []
  for (const batches of all) batches.flush()
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
