import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { BoundedMap } from '@coxswain/kit/bounded-map'
import { createCompacted, isStoreError } from '../../errors.ts'
import { prefixEnd } from '../../internal/sorted-map.ts'
import { validateRevision } from '../../internal/validate.ts'
import type { Change } from '../../store.ts'
import { ByteWriter } from './bytes.ts'
import {
  beyondKeys,
  type ChangeRow,
  changeColumns,
  describeError,
  HeadReader,
  headerColumns,
  idsPerRevision,
  revisionOfId,
  verifyRow,
} from './database.ts'
import { toKeyValue } from './ledger.ts'
import { type ReadReply, type ReadRequest, writeChange, writeKeyValue } from './messages.ts'

type Request<T extends ReadRequest['type']> = Extract<ReadRequest, { type: T }>

/** Values are transferred in buffers of about this size: keeping one value keeps no more than that alive. */
const chunkBytes = 64 * 1024
/** About how much history is read at a time. */
const historyBytes = 1024 * 1024
/** After how many rows a long read yields. */
const rowsPerTurn = 256

/** Answers reads on one connection, each on one snapshot of the durable state. */
export class SnapshotReader {
  readonly #db: DatabaseSync
  readonly #heads: HeadReader
  readonly #newest: StatementSync
  readonly #change: StatementSync
  readonly #values: StatementSync
  readonly #keys: StatementSync
  readonly #count: StatementSync
  readonly #history: StatementSync
  readonly #counts: CountMemory

  /** Connections of one reader share cached counts. */
  constructor(db: DatabaseSync, counts: CountMemory) {
    this.#db = db
    this.#counts = counts
    this.#heads = new HeadReader(db)
    this.#newest = db.prepare(
      'SELECT id, dead FROM versions WHERE key = ? AND id < ? ORDER BY id DESC LIMIT 1',
    )
    this.#change = db.prepare(`SELECT ${changeColumns} FROM changes WHERE id = ?`)
    const states =
      'SELECT key AS k, max(id) AS i, dead AS d FROM versions WHERE key >= ? AND key < ? AND id < ? GROUP BY key'
    const select = (columns: string) =>
      db.prepare(`SELECT k, ${columns} FROM (${states}) LEFT JOIN changes ON id = i WHERE d = 0 LIMIT ?`)
    this.#values = select(changeColumns)
    this.#keys = select(headerColumns)
    this.#count = db.prepare(`SELECT count(*) AS count FROM (${states}) WHERE d = 0`)
    this.#history = db.prepare(
      `SELECT ${changeColumns} FROM changes WHERE id >= ? AND id < ? AND key >= ? AND key < ? ORDER BY id`,
    )
  }

  /** The reply comes in the last step; between two steps the snapshot stays open. */
  *read(request: ReadRequest): Generator<undefined, ReadReply, undefined> {
    try {
      this.#db.exec('BEGIN')
      try {
        if (request.type === 'get') return this.#get(request)
        if (request.type === 'range') return yield* this.#range(request)
        return this.#readHistory(request)
      } finally {
        this.#db.exec('COMMIT')
      }
    } catch (error) {
      const { id } = request
      if (!isStoreError(error)) return { id, error: describeError(error) }
      const { code, message, compactedRevision } = error
      return {
        id,
        error: { code, message, ...(compactedRevision === undefined ? {} : { compactedRevision }) },
      }
    }
  }

  close(): void {
    this.#db.close()
  }

  #get(request: Request<'get'>): ReadReply {
    const { id, key } = request
    const { present, at } = this.#revisions(request.revision)
    const newest = this.#newest.get(key, (at + 1) * idsPerRevision) as
      | { id: number; dead: number }
      | undefined
    if (!newest || newest.dead) return { id, revision: present }
    const kv = toKeyValue(this.#change.get(newest.id) as ChangeRow | undefined, key)
    const out = new ByteWriter(kv.value.length + key.length + 64)
    writeKeyValue(out, kv)
    return { id, revision: present, buffers: [out.finish()] }
  }

  *#range(request: Request<'range'>): Generator<undefined, ReadReply, undefined> {
    const { id, start, keysOnly, countOnly, limit } = request
    const { at: revision } = this.#revisions(request.revision)
    const span = [start, request.end ?? beyondKeys, (revision + 1) * idsPerRevision] as const
    if (countOnly) return { id, revision, count: this.#countKeys(span, revision), more: false, buffers: [] }
    const buffers: ArrayBuffer[] = []
    // Space for the value that completes the chunk.
    const room = chunkBytes + 8 * 1024
    let out = new ByteWriter(room)
    let found = 0
    let last = ''
    // One more than the limit shows whether others follow without counting them.
    const rows = (keysOnly ? this.#keys : this.#values).iterate(...span, limit === undefined ? -1 : limit + 1)
    for (const row of rows as Iterable<unknown> as Iterable<ChangeRow & { readonly k: string }>) {
      if (found === limit) {
        buffers.push(out.finish())
        const count = this.#countPage(span, revision, { found, last })
        return { id, revision, count, more: true, buffers }
      }
      writeKeyValue(out, toKeyValue(row.id === null ? undefined : row, row.k))
      last = row.k
      found++
      if (out.length >= chunkBytes) {
        buffers.push(out.finish())
        out = new ByteWriter(room)
      }
      if (found % rowsPerTurn === 0) yield
    }
    buffers.push(out.finish())
    return { id, revision, count: found, more: false, buffers }
  }

  #readHistory(request: Request<'history'>): ReadReply {
    const { id, prefix, from, to } = request
    const { compacted } = this.#heads.read()
    if (from < compacted) throw createCompacted(from, compacted)
    const ids = [from * idsPerRevision, (to + 1) * idsPerRevision] as const
    const out = new ByteWriter(chunkBytes)
    let through = from - 1
    for (const each of this.#history.iterate(...ids, prefix, prefixEnd(prefix) ?? beyondKeys)) {
      const row = each as unknown as ChangeRow
      const revision = revisionOfId(row.id)
      if (revision !== through && out.length >= historyBytes) {
        return { id, through: revision - 1, buffers: [out.finish()] }
      }
      through = revision
      writeChange(out, this.#toChange(row, revision))
    }
    return { id, through: to, buffers: [out.finish()] }
  }

  #toChange(row: ChangeRow, revision: number): Change {
    const { key } = row
    const before = row.previous > 0 ? (this.#change.get(row.previous) as ChangeRow | undefined) : undefined
    const previous = row.previous > 0 ? toKeyValue(before, key) : undefined
    if (!row.dead) return { type: 'put', kv: toKeyValue(row, key), previous }
    verifyRow(row)
    return { type: 'delete', key, revision, previous }
  }

  #revisions(asked: number | undefined): { readonly present: number; readonly at: number } {
    const { revision: present, compacted } = this.#heads.read()
    if (asked !== undefined) validateRevision(asked, present, compacted)
    return { present, at: asked ?? present }
  }

  #countKeys(span: readonly [string, string, number], revision: number): number {
    const known = this.#counts.get(span[0], span[1], revision)
    if (known !== undefined) return known
    const { count } = this.#count.get(...span) as { count: number }
    this.#counts.set(span[0], span[1], revision, count)
    return count
  }

  /** The number of keys from the start of a page on. The first page of a list determines it for the next ones. */
  #countPage(
    span: readonly [string, string, number],
    revision: number,
    page: { found: number; last: string },
  ): number {
    const [start, end, before] = span
    const next = `${page.last}\0`
    const known = this.#counts.get(start, end, revision)
    const rest = known === undefined ? this.#countKeys([next, end, before], revision) : known - page.found
    this.#counts.set(next, end, revision, rest)
    return page.found + rest
  }
}

/** The number of keys in a span at a revision: needed again with every page of a list. */
export class CountMemory {
  readonly #counts = new BoundedMap<string, number>(500)

  get(start: string, end: string, revision: number): number | undefined {
    return this.#counts.get(`${revision} ${start} ${end}`)
  }

  set(start: string, end: string, revision: number, count: number): void {
    this.#counts.set(`${revision} ${start} ${end}`, count)
  }
}
