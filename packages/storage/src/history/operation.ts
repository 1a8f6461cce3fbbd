import { decodeText } from '@coxswain/kit'
import type { KeyValue } from '../store.ts'
import type { Interval, Model } from './linearizable.ts'

/** A key as recorded in a history. */
export interface Seen {
  readonly value: string
  readonly modRevision: number
  readonly createRevision: number
  readonly version: number
}

export type Outcome<T> = T | 'unknown'

export type RecordedOperation =
  | {
      readonly type: 'get'
      readonly key: string
      readonly result: { readonly revision: number; readonly kv: Seen | undefined }
    }
  | {
      readonly type: 'range'
      readonly prefix: string
      readonly result: { readonly revision: number; readonly items: readonly (readonly [string, Seen])[] }
    }
  | {
      readonly type: 'transact'
      readonly conditions: readonly { readonly key: string; readonly modRevision: number }[]
      /** Undefined deletes. */
      readonly writes: readonly { readonly key: string; readonly value: string | undefined }[]
      readonly result: Outcome<{
        readonly committed: boolean
        readonly revision: number
        /** Previous values when it committed, else the current state of the conditions' keys; undefined when not known. */
        readonly found: readonly (Seen | undefined)[] | undefined
      }>
    }

export type RecordedInterval = Interval<RecordedOperation>

/** The state of the whole store. */
export interface StoreState {
  readonly revision: number
  readonly keys: ReadonlyMap<string, Seen>
}

export function toSeen(kv: KeyValue): Seen {
  const { modRevision, createRevision, version } = kv
  return { value: decodeText(kv.value), modRevision, createRevision, version }
}

/** The sequential store. Revisions determine the order, so the search hardly ever has a choice. */
export function createStoreModel(initial: StoreState): Model<RecordedOperation, StoreState> {
  return { initial, step: stepStore, key: stateKey }
}

function stepStore(state: StoreState, op: RecordedOperation): StoreState | undefined {
  if (op.type === 'get') {
    const { revision, kv } = op.result
    return revision === state.revision && isSame(kv, state.keys.get(op.key)) ? state : undefined
  }
  if (op.type === 'range') {
    const { revision, items } = op.result
    if (revision !== state.revision) return undefined
    const expected = [...state.keys]
      .filter(([key]) => key.startsWith(op.prefix))
      .sort(([a], [b]) => (a < b ? -1 : 1))
    if (expected.length !== items.length) return undefined
    const matches = items.every(([key, seen], i) => expected[i]![0] === key && isSame(seen, expected[i]![1]))
    return matches ? state : undefined
  }
  const { conditions, writes, result } = op
  const holds = conditions.every(
    ({ key, modRevision }) => (state.keys.get(key)?.modRevision ?? 0) === modRevision,
  )
  if (result !== 'unknown') {
    if (result.committed !== holds) return undefined
    const keys = holds ? writes : conditions
    const { found } = result
    if (found && !keys.every(({ key }, i) => isSame(found[i], state.keys.get(key)))) return undefined
  }
  const next = holds ? applyWrites(state, writes) : state
  return result === 'unknown' || result.revision === next.revision ? next : undefined
}

export function applyWrites(
  state: StoreState,
  writes: readonly { readonly key: string; readonly value: string | undefined }[],
): StoreState {
  const effective = writes.some(({ key, value }) => value !== undefined || state.keys.has(key))
  if (!effective) return state
  const revision = state.revision + 1
  const keys = new Map(state.keys)
  for (const { key, value } of writes) {
    if (value === undefined) {
      keys.delete(key)
      continue
    }
    const { createRevision = revision, version = 0 } = keys.get(key) ?? {}
    keys.set(key, { value, modRevision: revision, createRevision, version: version + 1 })
  }
  return { revision, keys }
}

/** The value of an absent key. */
const absent = ''

/** The value of one key, without revisions: an independent check that does not trust revisions. */
export const valueModel: Model<ValueOperation, string> = {
  initial: absent,
  step(state, op) {
    if (op.type === 'read') return (op.value ?? absent) === state ? state : undefined
    if (op.before !== 'unknown' && (op.before ?? absent) !== state) return undefined
    return op.value ?? absent
  },
  key: state => state,
}

export type ValueOperation =
  | { readonly type: 'read'; readonly value: string | undefined }
  | {
      readonly type: 'write'
      readonly value: string | undefined
      readonly before: Outcome<string | undefined>
    }

/** The history of `key`, of the operations on it alone; a store is correct only if each key is. */
export function projectKey(history: readonly RecordedInterval[], key: string): Interval<ValueOperation>[] {
  return history.flatMap(({ op, call, return: end }): Interval<ValueOperation>[] => {
    const at = { call, return: end }
    if (op.type === 'get')
      return op.key === key ? [{ ...at, op: { type: 'read', value: op.result.kv?.value } }] : []
    if (op.type === 'range') {
      if (!key.startsWith(op.prefix)) return []
      const found = op.result.items.find(([name]) => name === key)
      return [{ ...at, op: { type: 'read', value: found?.[1].value } }]
    }
    if (op.result === 'unknown') {
      const write = op.writes.find(each => each.key === key)
      return write ? [{ ...at, op: { type: 'write', value: write.value, before: 'unknown' } }] : []
    }
    const { committed, found } = op.result
    const place = (committed ? op.writes : op.conditions).findIndex(each => each.key === key)
    if (place < 0) return []
    const before = found ? found[place]?.value : 'unknown'
    if (!committed) return [{ ...at, op: { type: 'read', value: before } }]
    return [{ ...at, op: { type: 'write', value: op.writes[place]!.value, before } }]
  })
}

function isSame(a: Seen | undefined, b: Seen | undefined): boolean {
  if (!a || !b) return a === b
  return (
    a.value === b.value &&
    a.modRevision === b.modRevision &&
    a.createRevision === b.createRevision &&
    a.version === b.version
  )
}

function stateKey({ revision, keys }: StoreState): string {
  let key = String(revision)
  for (const [name, seen] of keys) key += ` ${name}=${seen.value}@${seen.modRevision}`
  return key
}
