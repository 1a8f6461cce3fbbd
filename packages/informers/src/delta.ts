import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import type { Lane } from '@coxswain/kit'
import { isOlder } from './resource-version.ts'
import { type Store, storeKey } from './store.ts'

/** A change that a reflector or a resync sends to a store. */
export type Delta<T> =
  | { readonly type: 'Replaced'; readonly objects: readonly T[]; readonly resourceVersion: string }
  | { readonly type: 'Added' | 'Updated' | 'Deleted'; readonly object: T }
  /** A bookmark: nothing else happened up to this resourceVersion. */
  | { readonly type: 'Progress'; readonly resourceVersion: string }
  /** Every object is sent again to handlers that requested a resync. */
  | { readonly type: 'Sync'; readonly run: () => void }

/** A delta that can change a store. */
export type StoreDelta<T> = Exclude<Delta<T>, { readonly type: 'Sync' | 'Progress' }>

/** A change of the store, for handlers. */
export type Notification<T> =
  | { readonly type: 'added'; readonly object: DeepReadonly<T> }
  | { readonly type: 'updated'; readonly old: DeepReadonly<T>; readonly object: DeepReadonly<T> }
  | { readonly type: 'deleted'; readonly object: DeepReadonly<T>; readonly finalStateUnknown: boolean }

/** Deltas between a reflector and a store, in order; each is applied in a step of its own. */
export class DeltaQueue<T> {
  readonly #lane: Lane
  readonly #apply: (delta: Delta<T>) => void
  #size = 0

  /** `apply` must not throw. */
  constructor(lane: Lane, apply: (delta: Delta<T>) => void) {
    this.#lane = lane
    this.#apply = apply
  }

  /** The number of deltas in the queue. */
  get size(): number {
    return this.#size
  }

  push(delta: Delta<T>): void {
    this.#size++
    this.#lane.post(() => {
      this.#size--
      this.#apply(delta)
    })
  }
}

/**
 * Applies `delta` to `store` and returns the notifications. An object never goes back in time: a watch event is dropped if the
 * store has that state or a newer one. Only a full list may revert an object, since it is authoritative.
 */
export function applyDelta<T extends ApiObject>(store: Store<T>, delta: StoreDelta<T>): Notification<T>[] {
  switch (delta.type) {
    case 'Replaced':
      return replace(store, delta.objects)
    case 'Deleted':
      return remove(store, delta.object)
    default:
      return put(store, delta.object)
  }
}

function put<T extends ApiObject>(store: Store<T>, object: T): Notification<T>[] {
  const key = storeKey(object)
  const current = store.get(key)
  if (current && !isNewer(object, current)) return []
  return swap(store, key, object as DeepReadonly<T>)
}

function swap<T extends ApiObject>(store: Store<T>, key: string, object: DeepReadonly<T>): Notification<T>[] {
  const old = store.set(key, object)
  if (!old) return [{ type: 'added', object }]
  if (old.metadata.uid === object.metadata.uid) return [{ type: 'updated', old, object }]
  // Another object of the same name: the deletion of the first one was missed.
  return [
    { type: 'deleted', object: old, finalStateUnknown: true },
    { type: 'added', object },
  ]
}

function remove<T extends ApiObject>(store: Store<T>, object: T): Notification<T>[] {
  const key = storeKey(object)
  const current = store.get(key)
  if (!current || isOlder(object.metadata.resourceVersion, current.metadata.resourceVersion)) return []
  store.delete(key)
  return current.metadata.uid === object.metadata.uid
    ? [{ type: 'deleted', object: object as DeepReadonly<T>, finalStateUnknown: false }]
    : [{ type: 'deleted', object: current, finalStateUnknown: true }]
}

function replace<T extends ApiObject>(store: Store<T>, objects: readonly T[]): Notification<T>[] {
  const notifications: Notification<T>[] = []
  const present = new Set<string>()
  for (const object of objects) {
    const key = storeKey(object)
    present.add(key)
    const current = store.get(key)
    if (current && isSame(current, object)) continue
    for (const item of swap(store, key, object as DeepReadonly<T>)) notifications.push(item)
  }
  if (store.size > present.size) {
    for (const key of [...store.keys()]) {
      if (present.has(key)) continue
      notifications.push({ type: 'deleted', object: store.delete(key)!, finalStateUnknown: true })
    }
  }
  return notifications
}

function isSame(a: DeepReadonly<ApiObject>, b: DeepReadonly<ApiObject>): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion
}

function isNewer(object: DeepReadonly<ApiObject>, current: DeepReadonly<ApiObject>): boolean {
  const { resourceVersion } = object.metadata
  if (resourceVersion === current.metadata.resourceVersion) return false
  return !isOlder(resourceVersion, current.metadata.resourceVersion)
}
