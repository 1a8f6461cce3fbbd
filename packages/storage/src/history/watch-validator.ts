import { maxOf } from '@coxswain/kit'
import type { Change, WatchBatch } from '../store.ts'
import { applyWrites, type RecordedInterval, type Seen, type StoreState, toSeen } from './operation.ts'

/**
 * Operations whose outcome nobody learned, settled by what watches told: values are unique, so one that was told was
 * written then, and one that no watch told was not. Only deletions stay unknown.
 */
export function settleUnknown(
  operations: readonly RecordedInterval[],
  watches: readonly RecordedWatch[],
): RecordedInterval[] {
  const told = new Map<string, number>()
  for (const change of watches.flatMap(changesOf)) {
    if (change.type === 'put') told.set(toSeen(change.kv).value, change.kv.modRevision)
  }
  return operations.flatMap(interval => {
    const { op } = interval
    if (op.type !== 'transact' || op.result !== 'unknown') return [interval]
    const value = op.writes.find(write => write.value !== undefined)?.value
    if (value === undefined) return [interval]
    const revision = told.get(value)
    if (revision === undefined) return []
    return [{ ...interval, op: { ...op, result: { committed: true, revision, found: undefined } } }]
  })
}

/** One watch of a history, resumed as often as its streams ended: each stream began with `from`. */
export interface RecordedWatch {
  readonly prefix: string
  readonly previous: boolean
  readonly streams: readonly { readonly from: number; readonly batches: readonly WatchBatch[] }[]
}

/**
 * What a history's watches did wrong, in words; empty when every promise was kept. `operations` is everything that was
 * written, `initial` the state before.
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
/** What each revision changed: key to value, undefined for a deletion. */
type Log = Map<number, Map<string, string | undefined>>

/** Ordered, unique, atomic, resumed where it stopped, never behind what progress said. */
function validateOrder({ streams }: RecordedWatch, say: Say): void {
  let told: number | undefined
  for (const { from, batches } of streams) {
    if (told !== undefined && from !== told + 1) say(`resumed at ${from} after ${told}`)
    told ??= from - 1
    for (const { revision, changes } of batches) {
      if (revision < told) say(`revision ${revision} after ${told}`)
      let last = told
      const keys = new Set<string>()
      for (const change of changes) {
        const at = revisionOf(change)
        if (at <= told) say(`the change of ${keyOf(change)} at ${at} came when ${told} had been told`)
        if (at < last) say(`the change at ${at} came after the one at ${last}`)
        if (at > revision) say(`the change at ${at} came in a batch that tells up to ${revision}`)
        const id = `${at} ${keyOf(change)}`
        if (keys.has(id)) say(`the change of ${keyOf(change)} at ${at} came twice`)
        keys.add(id)
        last = at
      }
      told = revision
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

/** What was told was written, and as it was written. */
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
      if (!known) problems.push(`${key}=${value} at ${revision} was told but never written`)
    }
  }
  // A write is told in full where any of it is; whether all watches that should told it is checked for each.
  for (const [revision, written] of acknowledged) {
    for (const [key, value] of written) log.set(revision, (log.get(revision) ?? new Map()).set(key, value))
  }
}

/** Nothing under the prefix between the first and the last revision that the watch told is missing. */
function validateComplete(watch: RecordedWatch, log: Log, say: Say): void {
  const first = watch.streams[0]?.from ?? 0
  const last = watch.streams.flatMap(({ batches }) => batches).at(-1)?.revision ?? 0
  const told = new Set(changesOf(watch).map(change => `${revisionOf(change)} ${keyOf(change)}`))
  for (const [revision, commit] of log) {
    if (revision < first || revision > last) continue
    for (const key of commit.keys()) {
      if (key.startsWith(watch.prefix) && !told.has(`${revision} ${key}`))
        say(`${key} at ${revision} is missing`)
    }
  }
}

/** Previous values, and the revisions of each state, are those that the log makes. */
function validatePrevious(watch: RecordedWatch, log: Log, context: { initial: StoreState; say: Say }): void {
  const told = new Map(changesOf(watch).map(change => [`${revisionOf(change)} ${keyOf(change)}`, change]))
  let state = context.initial
  const last = Math.max(0, maxOf(log.keys()))
  for (let revision = state.revision + 1; revision <= last; revision++) {
    const commit = log.get(revision)
    if (!commit) return // An unknown write that no watch covers: from here on the log tells nothing.
    for (const key of commit.keys()) {
      const change = told.get(`${revision} ${key}`)
      if (!change) continue
      const expected = state.keys.get(key)
      if (show(change.previous && toSeen(change.previous)) !== show(expected)) {
        context.say(`before ${key} at ${revision} stood ${show(expected)}, not what was told`)
      }
    }
    state = applyWrites(
      { ...state, revision: revision - 1 },
      [...commit].map(([key, value]) => ({ key, value })),
    )
    for (const key of commit.keys()) {
      const change = told.get(`${revision} ${key}`)
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
