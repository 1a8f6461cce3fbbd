import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { isStoreError, StoreError, type StoreErrorCode } from '../../errors.ts'
import { ByteReader, ByteWriter } from './bytes.ts'
import {
  describeError,
  isNoSpace,
  openForWriting,
  readMeta,
  sqliteShmSize,
  verifyVersions,
  writeMeta,
} from './database.ts'
import { Ledger } from './ledger.ts'
import { lockDirectory } from './lock.ts'
import {
  type FromWriter,
  type Opened,
  readTransaction,
  type SerializedError,
  type ToWriter,
  type WriterOptions,
  writeOutcome,
} from './messages.ts'
import { readWitness, Witness } from './witness.ts'

type Write = Extract<ToWriter, { type: 'write' }>

/** About what a commit writes besides the values: index pages, and the rest of the pages that it touches. */
const commitOverhead = 32 * 1024
/** How far the window is exceeded before it is trimmed: trimming is a separate commit. */
const slack = 0.1
/** How many changes one compaction step examines. */
const compactionStep = 2000

/** Commits groups of transactions, one after the other; the only writer of the database. Synchronous throughout. */
export class Writer {
  readonly #options: WriterOptions
  readonly #lock: Disposable
  readonly #db: DatabaseSync
  readonly #begin: StatementSync
  readonly #end: StatementSync
  readonly #ledger: Ledger
  readonly #witness: Witness
  readonly #history: HistoryGauge
  #logged = 0
  #failure: SerializedError | undefined

  /** Throws `Locked`, `NewerFormat` or `Corrupt`. */
  constructor(options: WriterOptions) {
    this.#options = options
    this.#lock = lockDirectory(options.directory)
    try {
      this.#db = openForWriting(options.directory, options)
      try {
        verifyVersions(this.#db)
        this.#begin = this.#db.prepare('BEGIN IMMEDIATE')
        this.#end = this.#db.prepare('COMMIT')
        this.#ledger = new Ledger(this.#db)
        const { revision } = this.#ledger
        const seen = readWitness(options.directory)
        if (seen !== undefined && seen > revision) {
          throw new StoreError(
            'Corrupt',
            `the store is at revision ${revision} but has been at ${seen} before`,
          )
        }
        this.#witness = Witness.open(options.directory)
        this.#history = new HistoryGauge(this.#ledger, options.historyRevisions)
      } catch (error) {
        this.#db.close()
        throw error
      }
    } catch (error) {
      this.#lock[Symbol.dispose]()
      throw error
    }
  }

  get opened(): Opened {
    const { revision, compacted } = this.#ledger
    return { revision, compacted, expiries: this.#ledger.expiries() }
  }

  /** Makes all of `writes` durable together. One reply for each, in order. */
  commit(writes: readonly Write[]): FromWriter[] {
    if (this.#failure) return writes.map(({ id }) => ({ type: 'failed', id, error: this.#failure! }))
    let committing = false
    try {
      this.#begin.run()
      let bytes = 0
      const replies = writes.map(write => {
        bytes += write.buffer.byteLength
        return this.#execute(write)
      })
      committing = true
      this.#end.run()
      this.#witness.write(this.#ledger.revision)
      this.#history.note(this.#ledger.revision, bytes)
      this.#logged += 2 * bytes + commitOverhead
      return replies
    } catch (cause) {
      const error = this.#fail(cause, committing)
      return writes.map(({ id }) => ({ type: 'failed', id, error }))
    }
  }

  /** Compacts history before `revision`. */
  compact(id: number, revision: number): FromWriter {
    try {
      this.#compactTo(revision)
      return { type: 'done', id, compacted: this.#ledger.compacted }
    } catch (cause) {
      return { type: 'failed', id, error: this.#fail(cause, false) }
    }
  }

  /** Checks with a write that changes nothing whether writes succeed again. */
  probe(id: number): FromWriter {
    if (this.#failure) return { type: 'failed', id, error: this.#failure }
    this.#checkpoint()
    try {
      this.#begin.run()
      writeMeta(this.#db, readMeta(this.#db))
      this.#end.run()
      return { type: 'done', id, compacted: this.#ledger.compacted }
    } catch (cause) {
      return { type: 'failed', id, error: this.#fail(cause, false) }
    }
  }

  /** Work that can wait until the writes are acknowledged. The reply reports compaction. */
  tidy(): FromWriter | undefined {
    if (this.#failure) return undefined
    try {
      const before = this.#ledger.compacted
      const target = this.#history.excess(this.#options)
      if (target > before) this.#compactTo(target)
      if (this.#logged >= this.#options.checkpointBytes) {
        this.#logged = 0
        this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
      }
      return target > before ? { type: 'compacted', revision: this.#ledger.compacted } : undefined
    } catch (cause) {
      this.#fail(cause, false)
      return undefined
    }
  }

  close(): void {
    try {
      if (!this.#failure) this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (cause) {
      // Everything is in the log, which is read when the store is opened again.
      if (!isNoSpace(cause)) throw cause
    } finally {
      this.#db.close()
      this.#witness.close()
      this.#lock[Symbol.dispose]()
    }
  }

  /** Once the whole log is in the database, the next commit restarts it. */
  #checkpoint(): void {
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // There is no space in the database either.
    }
  }

  #execute(write: Write): FromWriter {
    const input = new ByteReader(write.buffer)
    const out = new ByteWriter(256 + 64 * write.count)
    for (let left = write.count; left > 0; left--)
      writeOutcome(out, this.#ledger.apply(readTransaction(input)))
    return { type: 'done', id: write.id, compacted: this.#ledger.compacted, buffer: out.finish() }
  }

  #compactTo(revision: number): void {
    for (let done = false; !done; ) {
      this.#db.exec('BEGIN IMMEDIATE')
      done = this.#ledger.compact(revision, compactionStep)
      this.#db.exec('COMMIT')
    }
  }

  /**
   * After running out of space nothing was committed, and the next write is tried as usual. After any other failure nothing is
   * written any more: after a failed sync the state of the disk is unknown. A commit that failed half-way may reappear
   * when the store is opened again, so its outcome is unknown.
   */
  #fail(cause: unknown, committing: boolean): SerializedError {
    const { code, message } = isStoreError(cause) ? cause : describeError(cause)
    const lasting: StoreErrorCode = code === 'Corrupt' ? 'Corrupt' : 'Failed'
    const failure: SerializedError = {
      code: lasting,
      message: 'the store accepts no more writes until it is opened again: a commit failed',
      detail: message,
    }
    const lacksSpace = isNoSpace(cause)
    if (!lacksSpace) this.#failure = failure
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      this.#ledger.reload()
    } catch {
      // The first failure is the one to report; nothing is written any more.
      this.#failure = failure
    }
    // SQLite writes a commit's last frame last: what failed before it never happened.
    const mayBeCommitted = committing && (cause as { errcode?: number }).errcode === sqliteShmSize
    if (lacksSpace && !mayBeCommitted && !this.#failure)
      return {
        code: 'NoSpace',
        message: 'the write was not carried out: there is no space left on the device',
        detail: message,
      }
    if (!committing) return { code: lasting, message: `the write failed: ${message}`, detail: message }
    return {
      code: 'UnknownOutcome',
      message: `the write could not be made durable: ${message}`,
      detail: message,
    }
  }
}

/** The age and size of history, commit by commit, since the store was opened. */
class HistoryGauge {
  readonly #ledger: Ledger
  readonly #step: number
  #commits: { readonly revision: number; readonly time: number; readonly bytes: number }[]
  #bytes = 0

  constructor(ledger: Ledger, historyRevisions: number) {
    this.#ledger = ledger
    this.#step = historyRevisions / 100
    this.#commits = [{ revision: ledger.revision, time: Date.now(), bytes: 0 }]
  }

  /** Neighbours are counted together, as long as a hundred of them make up the window. */
  note(revision: number, bytes: number): void {
    this.#bytes += bytes
    const time = Date.now()
    const last = this.#commits.at(-1)
    const before = this.#commits.at(-2)
    if (last && before && revision - before.revision <= this.#step && time - last.time < 1000) {
      this.#commits[this.#commits.length - 1] = { revision, time: last.time, bytes: last.bytes + bytes }
    } else {
      this.#commits.push({ revision, time, bytes })
    }
  }

  /** The revision up to which history is outside the window; 0 when trimming is not worth it yet. */
  excess(options: WriterOptions): number {
    const { historyRevisions, historyDuration, historyBytes } = options
    const { revision, compacted } = this.#ledger
    if (revision - compacted < historyRevisions * (1 + slack)) return 0
    const limit = revision - historyRevisions
    const oldest = Date.now() - historyDuration
    let used = 0
    let target = 0
    for (const { revision: last, time, bytes } of this.#commits) {
      if (last > limit || (time >= oldest && this.#bytes <= historyBytes)) break
      used++
      this.#bytes -= bytes
      target = last + 1
    }
    this.#commits = this.#commits.slice(used)
    return target
  }
}
