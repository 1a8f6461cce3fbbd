import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { isStoreError, StoreError } from '../../errors.ts'
import type { KeyValue, Operation } from '../../store.ts'
import {
  type ChangeRow,
  changeColumns,
  digestModulus,
  HeadReader,
  hashVersion,
  idsPerRevision,
  type Meta,
  readMeta,
  revisionOfId,
  sumOfHeader,
  sumOfValue,
  verifyRow,
  writeMeta,
} from './database.ts'
import type { Opened, WriteOutcome, WriteRequest } from './messages.ts'

interface NewestChange {
  readonly id: number
  readonly dead: number
}

/**
 * Executes transactions on the database. Synchronous; the caller decides where SQLite's own transactions begin and
 * end: the state inside the open one is the pending head, what was committed is durable.
 */
export class Ledger {
  readonly #db: DatabaseSync
  readonly #newest: StatementSync
  readonly #change: StatementSync
  readonly #addChange: StatementSync
  readonly #addVersion: StatementSync
  readonly #superseded: StatementSync
  readonly #dropVersion: StatementSync
  readonly #dropChange: StatementSync
  /** What the current transaction has looked up. */
  readonly #found = new Map<string, NewestChange | undefined>()
  #revision = 0
  #digest = 0
  #meta: Meta

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#newest = db.prepare('SELECT id, dead FROM versions WHERE key = ? ORDER BY id DESC LIMIT 1')
    this.#change = db.prepare(`SELECT ${changeColumns} FROM changes WHERE id = ?`)
    this.#addChange = db.prepare('INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    this.#addVersion = db.prepare('INSERT INTO versions VALUES (?, ?, ?)')
    this.#superseded = db.prepare(
      'SELECT id, key, dead, previous FROM changes WHERE id >= ? AND id < ? LIMIT ?',
    )
    this.#dropVersion = db.prepare('DELETE FROM versions WHERE key = ? AND id = ?')
    this.#dropChange = db.prepare('DELETE FROM changes WHERE id = ?')
    this.#meta = readMeta(db)
    this.reload()
  }

  get revision(): number {
    return this.#revision
  }

  get compacted(): number {
    return this.#meta.compacted
  }

  /** Forgets what was rolled back. */
  reload(): void {
    this.#meta = readMeta(this.#db)
    this.#revision = new HeadReader(this.#db).read().revision
    const last = this.#db.prepare('SELECT digest FROM changes ORDER BY id DESC LIMIT 1').get()
    this.#digest = (last as { digest: number } | undefined)?.digest ?? 0
  }

  /** Pending expiries, except for keys that were written since. */
  expiries(): Opened['expiries'] {
    const ids = this.#db.prepare('SELECT id FROM changes WHERE due > 0').all() as { id: number }[]
    return ids.flatMap(({ id }) => {
      const row = this.#change.get(id) as ChangeRow | undefined
      if (!row) throw new StoreError('Corrupt', `the expiring change ${id} is missing`)
      verifyRow(row)
      const { key, due } = row
      const newest = this.#newest.get(key) as NewestChange | undefined
      return newest?.id === id && due > 0 ? [{ key, modRevision: revisionOfId(id), due }] : []
    })
  }

  /** Evaluates and executes one transaction. When a corrupt row prevents it, it is rejected before anything is done. */
  apply(request: WriteRequest): WriteOutcome {
    const { conditions, operations, dues } = request
    try {
      this.#found.clear()
      for (const { key, modRevision } of conditions) {
        const newest = this.#find(key)
        if ((newest && !newest.dead ? revisionOfId(newest.id) : 0) === modRevision) continue
        const present = conditions.map(condition => this.#read(condition.key))
        return { committed: false, revision: this.#revision, present }
      }
      const previous = operations.map(operation => this.#read(operation.key))
      const effective = operations.some((operation, i) => operation.type === 'put' || previous[i])
      if (!effective) return { committed: true, revision: this.#revision, previous }
      this.#revision++
      for (const [place, operation] of operations.entries()) {
        this.#write(operation, { place, before: previous[place], due: dues[place] ?? 0 })
      }
      return { committed: true, revision: this.#revision, previous }
    } catch (error) {
      if (isStoreError(error) && error.code === 'Corrupt') {
        return { error: { code: error.code, message: error.message } }
      }
      throw error
    }
  }

  /**
   * Compacts history before `revision`, at most `limit` changes at a time: true when that was all. Changes at `revision`
   * stay, with what they replaced, so that a watch from it can deliver both.
   */
  compact(revision: number, limit: number): boolean {
    const { compacted, floor } = this.#meta
    let { removed } = this.#meta
    const from = compacted * idsPerRevision
    const rows = this.#superseded.all(from, revision * idsPerRevision, limit) as unknown as ChangeRow[]
    const last = rows.at(-1)
    const reached = rows.length < limit || !last ? revision : revisionOfId(last.id)
    for (const { id, key, dead, previous } of rows) {
      if (revisionOfId(id) >= reached && reached < revision) break
      if (previous > 0) removed = this.#drop(key, previous, 0, removed)
      if (dead) removed = this.#drop(key, id, 1, removed)
    }
    this.#meta = { compacted: Math.max(compacted, reached), removed, floor }
    writeMeta(this.#db, this.#meta)
    return reached >= revision
  }

  #drop(key: string, id: number, dead: number, removed: number): number {
    if (this.#dropVersion.run(key, id).changes !== 1 || this.#dropChange.run(id).changes !== 1) {
      throw new StoreError('Corrupt', `the change ${id} of ${JSON.stringify(key)} is missing`)
    }
    return (removed + hashVersion(key, id, dead)) % digestModulus
  }

  /** The newest change of a key before the current transaction. */
  #find(key: string): NewestChange | undefined {
    if (this.#found.has(key)) return this.#found.get(key)
    const newest = this.#newest.get(key) as NewestChange | undefined
    this.#found.set(key, newest)
    return newest
  }

  #read(key: string): KeyValue | undefined {
    const newest = this.#find(key)
    if (!newest || newest.dead) return undefined
    const row = this.#change.get(newest.id) as ChangeRow | undefined
    return toKeyValue(row, key)
  }

  #write(operation: Operation, at: { place: number; before: KeyValue | undefined; due: number }): void {
    const { key } = operation
    const { place, before, due } = at
    const isPut = operation.type === 'put'
    if (!isPut && !before) return
    const id = this.#revision * idsPerRevision + place
    const dead = isPut ? 0 : 1
    const previous = before ? this.#find(key)!.id : 0
    const value = isPut ? operation.value : noValue
    this.#digest = (this.#digest + hashVersion(key, id, dead)) % digestModulus
    const created = isPut ? (before?.createRevision ?? this.#revision) : 0
    const version = isPut ? (before?.version ?? 0) + 1 : 0
    const header = {
      id,
      key,
      dead,
      created,
      version,
      previous,
      due,
      digest: this.#digest,
      value_sum: sumOfValue(value),
    }
    const sum = sumOfHeader(header)
    this.#addChange.run(
      id,
      key,
      dead,
      created,
      version,
      previous,
      due,
      header.digest,
      header.value_sum,
      sum,
      value,
    )
    this.#addVersion.run(key, id, dead)
  }
}

const noValue = new Uint8Array(0)

/** Throws `Corrupt` when the row is missing, another key's or does not match its checksum. */
export function toKeyValue(row: ChangeRow | Omit<ChangeRow, 'value'> | undefined, key: string): KeyValue {
  if (row?.key !== key || row.dead) {
    throw new StoreError('Corrupt', `the value of ${JSON.stringify(key)} is missing`)
  }
  verifyRow(row)
  const value = 'value' in row ? row.value : noValue
  const { created: createRevision, version } = row
  return { key, value, modRevision: revisionOfId(row.id), createRevision, version }
}
