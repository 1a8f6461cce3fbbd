import { maxOf } from '@coxswain/kit'
import type { Change, WatchBatch } from '../store.ts'
import { applyWrites, type RecordedInterval, type Seen, type StoreState, toSeen } from './operation.ts'

/**
 * Resolves operations with an unknown outcome by what watches delivered: values are unique, so a delivered one was
 * written then, and one that no watch delivered was not. Only deletions stay unknown.
 */
export function settleUnknown(
  operations: readonly RecordedInterval[],
  watches: readonly RecordedWatch[],
): RecordedInterval[] {
  const delivered = new Map<string, number>()
  for (const change of watches.flatMap(changesOf)) {
    if (change.type === 'put') delivered.set(toSeen(change.kv).value, change.kv.modRevision)
  }
  return operations.flatMap(interval => {
    const { op } = interval
    if (op.type !== 'transact' || op.result !== 'unknown') return [interval]
    const value = op.writes.find(write => write.value !== undefined)?.value
    if (value === undefined) return [interval]
    const revision = delivered.get(value)
    if (revision === undefined) return []
    return [{ ...interval, op: { ...op, result: { committed: true, revision, found: undefined } } }]
  })
}

/** One watch of a history, resumed whenever its stream ended: each stream began with `from`. */
export interface RecordedWatch {
  readonly prefix: string
  readonly previous: boolean
  readonly streams: readonly { readonly from: number; readonly batches: readonly WatchBatch[] }[]
}

/**
 * The violations of a history's watches; empty when there are none. `operations` are all
 * writes, `initial` the state before.
 */
export function validateWatches(
  watches: readonly RecordedWatch[],
  operations: readonly RecordedInterval[],
  initial: StoreState,
): string[] {
  const problems: string[] = []
  for (const [index, watch] of watches.entries()) {
    const say = (problem: string) => problems.push(`watch ${index} (${watch.prefix}): ${problem}`)
    validateOrder(watch, say)
  }
  const log = mergeLog(watches, problems)
  validateAgainstWrites(log, operations, problems)
  for (const [index, watch] of watches.entries()) {
    const say = (problem: string) => problems.push(`watch ${index} (${watch.prefix}): ${problem}`)
    validateComplete(watch, log, say)
    if (watch.previous) validatePrevious(watch, log, { initial, say })
  }
  return problems
}

type Say = (problem: string) => void
/** The changes of each revision: key to value, undefined for a deletion. */
type Log = Map<number, Map<string, string | undefined>>

/** Ordered, unique, atomic, resumed where it stopped, never behind its progress. */
function validateOrder({ streams }: RecordedWatch, say: Say): void {
  let delivered: number | undefined
  for (const { from, batches } of streams) {
    if (delivered !== undefined && from !== delivered + 1) say(`resumed at ${from} after ${delivered}`)
    delivered ??= from - 1
    for (const { revision, changes } of batches) {
      if (revision < delivered) say(`revision ${revision} after ${delivered}`)
      let last = delivered
      const keys = new Set<string>()
      for (const change of changes) {
        const at = revisionOf(change)
        if (at <= delivered)
          say(`the change of ${keyOf(change)} at ${at} came when ${delivered} had been delivered`)
        if (at < last) say(`the change at ${at} came after the one at ${last}`)
        if (at > revision) say(`the change at ${at} came in a batch that tells up to ${revision}`)
        const id = `${at} ${keyOf(change)}`
        if (keys.has(id)) say(`the change of ${keyOf(change)} at ${at} came twice`)
        keys.add(id)
        last = at
      }
      delivered = revision
    }
  }
}

/** Every watch's changes in one log; they must agree. */
function mergeLog(watches: readonly RecordedWatch[], problems: string[]): Log {
  const log: Log = new Map()
  for (const change of watches.flatMap(changesOf)) {
    const revision = revisionOf(change)
    const key = keyOf(change)
    const value = writtenBy(change)
    const commit = log.get(revision) ?? new Map<string, string | undefined>()
    if (commit.has(key) && commit.get(key) !== value)
      problems.push(`watches disagree about ${key} at ${revision}`)
    log.set(revision, commit.set(key, value))
  }
  return log
}

/** Delivered changes were written, and as they were written. */
function validateAgainstWrites(log: Log, operations: readonly RecordedInterval[], problems: string[]): void {
  const acknowledged = new Map<number, ReadonlyMap<string, string | undefined>>()
  const maybe = new Set<string>()
  for (const { op } of operations) {
    if (op.type !== 'transact') continue
    if (op.result === 'unknown') for (const { key, value } of op.writes) maybe.add(`${key}=${value}`)
    else if (op.result.committed) {
      const { found, revision } = op.result
      const effective = op.writes.filter(
        ({ value }, i) => value !== undefined || !found || found[i] !== undefined,
      )
      if (effective.length > 0)
        acknowledged.set(revision, new Map(effective.map(({ key, value }) => [key, value])))
    }
  }
  for (const [revision, commit] of log) {
    const written = acknowledged.get(revision)
    for (const [key, value] of commit) {
      const known = written ? written.has(key) && written.get(key) === value : maybe.has(`${key}=${value}`)
      if (!known) problems.push(`${key}=${value} at ${revision} was delivered but never written`)
    }
  }
  // A partly delivered write must be complete; whether each watch delivered it is checked below.
  for (const [revision, written] of acknowledged) {
    for (const [key, value] of written) log.set(revision, (log.get(revision) ?? new Map()).set(key, value))
  }
}

/** No change under the prefix is missing between the watch's first and last revision. */
function validateComplete(watch: RecordedWatch, log: Log, say: Say): void {
  const first = watch.streams[0]?.from ?? 0
  const last = watch.streams.flatMap(({ batches }) => batches).at(-1)?.revision ?? 0
  const delivered = new Set(changesOf(watch).map(change => `${revisionOf(change)} ${keyOf(change)}`))
  for (const [revision, commit] of log) {
    if (revision < first || revision > last) continue
    for (const key of commit.keys()) {
      if (key.startsWith(watch.prefix) && !delivered.has(`${revision} ${key}`))
        say(`${key} at ${revision} is missing`)
    }
  }
}

/** Previous values, and the revisions of each state, must match the log. */
function validatePrevious(watch: RecordedWatch, log: Log, context: { initial: StoreState; say: Say }): void {
  const delivered = new Map(
    changesOf(watch).map(change => [`${revisionOf(change)} ${keyOf(change)}`, change]),
  )
  let state = context.initial
  const last = Math.max(0, maxOf(log.keys()))
  for (let revision = state.revision + 1; revision <= last; revision++) {
    const commit = log.get(revision)
    if (!commit) return // An unknown write that no watch covers: the log is incomplete from here on.
    for (const key of commit.keys()) {
      const change = delivered.get(`${revision} ${key}`)
      if (!change) continue
      const expected = state.keys.get(key)
      if (show(change.previous && toSeen(change.previous)) !== show(expected)) {
        context.say(`before ${key} at ${revision} was ${show(expected)}, not what was delivered`)
      }
    }
    state = applyWrites(
      { ...state, revision: revision - 1 },
      [...commit].map(([key, value]) => ({ key, value })),
    )
    for (const key of commit.keys()) {
      const change = delivered.get(`${revision} ${key}`)
      if (change?.type === 'put' && show(toSeen(change.kv)) !== show(state.keys.get(key))) {
        context.say(`${key} at ${revision} is not what the write made`)
      }
    }
  }
}

function changesOf({ streams }: RecordedWatch): Change[] {
  return streams.flatMap(({ batches }) => batches.flatMap(({ changes }) => [...changes]))
}

function keyOf(change: Change): string {
  return change.type === 'put' ? change.kv.key : change.key
}

function revisionOf(change: Change): number {
  return change.type === 'put' ? change.kv.modRevision : change.revision
}

function writtenBy(change: Change): string | undefined {
  return change.type === 'put' ? toSeen(change.kv).value : undefined
}

function show(seen: Seen | undefined): string {
  return seen ? `${seen.value}@${seen.modRevision}/${seen.createRevision}#${seen.version}` : 'nothing'
}
