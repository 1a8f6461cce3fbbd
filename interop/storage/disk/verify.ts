import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkStore } from '@coxswain/storage/sqlite'
import { databaseName, openForReading } from '../../../packages/storage/src/node/sqlite/database.ts'
import { Writer } from '../../../packages/storage/src/node/sqlite/writer.ts'

/** What clients know: the newest revision, and of each key the last acknowledged write (sequence 0: a deletion). */
export class Acknowledged {
  revision = 0
  readonly keys = new Map<string, { readonly revision: number; readonly sequence: number }>()

  add(line: string): void {
    const [revision = 0, key = '', sequence = 0] = line
      .split(' ')
      .map((part, i) => (i === 1 ? part : Number(part))) as [number, string, number]
    this.revision = Math.max(this.revision, revision)
    const known = this.keys.get(key)
    if (!known || known.revision < revision) this.keys.set(key, { revision, sequence })
  }

  /** What was read after a crash is known from then on: a write may have happened without being acknowledged. */
  adopt(states: ReadonlyMap<string, { readonly revision: number; readonly sequence: number }>): void {
    for (const key of this.keys.keys()) if (!states.has(key)) this.keys.delete(key)
    for (const [key, state] of states) this.keys.set(key, state)
  }
}

/**
 * Opens the store in `directory`, as a start after a crash does, and tells what is wrong with it, in words: something that
 * was acknowledged is missing, revisions went back, a transaction is there by half, an invariant is broken. What is
 * there counts as acknowledged from then on.
 */
export function verifyAfterCrash(directory: string, acknowledged: Acknowledged): string[] {
  const problems: string[] = []
  const options = {
    directory,
    historyRevisions: 30,
    historyDuration: 0,
    historyBytes: 0,
    checkpointBytes: 1e9,
  }
  let writer: Writer
  try {
    writer = new Writer(options)
  } catch (error) {
    return [`the store does not open: ${error}`]
  }
  try {
    const { revision } = writer.opened
    if (revision < acknowledged.revision) {
      problems.push(`the store is at revision ${revision}, but ${acknowledged.revision} was acknowledged`)
    }
    problems.push(...checkStore(directory).problems)
    problems.push(...compare(directory, acknowledged))
  } finally {
    writer.close()
  }
  rmSync(join(directory, 'lock.sqlite'), { force: true })
  return problems
}

interface State {
  readonly key: string
  readonly id: number
  readonly dead: number
  readonly value: Uint8Array
}

function compare(directory: string, acknowledged: Acknowledged): string[] {
  const problems: string[] = []
  const db = openForReading(join(directory, databaseName))
  const states = new Map<string, { revision: number; sequence: number }>()
  try {
    const rows = db.prepare(
      'SELECT v.key, v.id, v.dead, c.value FROM (SELECT key, max(id) AS id, dead FROM versions GROUP BY key) v JOIN changes c ON c.id = v.id',
    )
    for (const { key, id, dead, value } of rows.all() as unknown as State[]) {
      const sequence = dead ? 0 : Number.parseInt(new TextDecoder().decode(value), 10)
      states.set(key, { revision: Math.floor(id / 128), sequence })
    }
  } finally {
    db.close()
  }
  for (const [key, { revision, sequence }] of acknowledged.keys) {
    const state = states.get(key)
    if (!state) {
      if (sequence !== 0) problems.push(`${key} is lost: ${sequence} was acknowledged at ${revision}`)
      continue
    }
    if (state.revision < revision && sequence !== 0)
      problems.push(`${key} went back from ${revision} to ${state.revision}`)
    if (state.revision === revision && state.sequence !== sequence) {
      problems.push(`${key} at ${revision} is ${state.sequence}, but ${sequence} was acknowledged`)
    }
  }
  acknowledged.adopt(states)
  for (const [key, { sequence }] of states) {
    if (!key.startsWith('/pair') || !key.endsWith('/a')) continue
    const other = states.get(key.replace(/a$/, 'b'))?.sequence
    if (other !== sequence) problems.push(`half a transaction: ${key} is ${sequence}, the other is ${other}`)
  }
  return problems
}
