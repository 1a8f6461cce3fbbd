import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import {
  type ApiObject,
  type DeepReadonly,
  type ObjectKey,
  parseGroupVersion,
} from '@coxswain/apimachinery/meta'
import type { CachedListOptions } from './cache.ts'
import type { Predicate } from './predicates.ts'

/** Reads of the cache at one moment, for mapping functions. */
export interface Lookup {
  get<K extends Kind>(kind: K, key: ObjectKey): DeepReadonly<KindOf<K>> | undefined
  list<K extends Kind>(kind: K, options?: CachedListOptions): DeepReadonly<KindOf<K>>[]
}

/** Which objects have to be reconciled when something happened to `object`. */
export type MapFunction<T extends ApiObject = ApiObject> = (
  object: DeepReadonly<T>,
  lookup: Lookup,
) => readonly ObjectKey[]

/** Events of one kind, and what they mean for a controller. */
export interface KindSource {
  readonly role: 'for' | 'owns' | 'watches'
  readonly kind: Kind
  readonly map: MapFunction
  readonly predicates: readonly Predicate[]
  /** Where its objects are. @default the operator's own cluster */
  readonly cluster?: string
  /** Milliseconds for which events are gathered. @default 0 */
  readonly delay?: number
}

/** Events from outside the cluster. Whoever holds the channel sends the keys of what has to be looked at. */
export interface Channel {
  send(key: ObjectKey): void
  /** For controllers. Returns the way to unsubscribe. */
  subscribe(receiver: (key: ObjectKey) => void): () => void
}

export function createChannel(): Channel {
  const receivers = new Set<(key: ObjectKey) => void>()
  return {
    send: key => {
      for (const receiver of receivers) receiver(key)
    },
    subscribe: receiver => {
      receivers.add(receiver)
      return () => receivers.delete(receiver)
    },
  }
}

/** Looks at objects each so many milliseconds, whatever happens to them. */
export interface TimerSource {
  readonly every: number
  readonly keys: (lookup: Lookup) => readonly ObjectKey[]
}

export interface OwnsOptions {
  /** Every owner of the right kind is reconciled, not only the one that is marked as controller. @default false */
  readonly everyOwner?: boolean
}

/** Maps an object to those of its owners that are of `owner`'s kind, whatever version the reference names. */
export function ownersOf(owner: Kind, options: OwnsOptions = {}): MapFunction {
  const { everyOwner = false } = options
  return object => {
    const keys: ObjectKey[] = []
    const { namespace, ownerReferences = [] } = object.metadata
    for (const { apiVersion, kind, name, controller } of ownerReferences) {
      if (kind !== owner.kind || (!everyOwner && !controller)) continue
      if (groupOf(apiVersion) !== owner.group) continue
      keys.push(owner.namespaced && namespace ? { namespace, name } : { name })
    }
    return keys
  }
}

function groupOf(apiVersion: string): string | undefined {
  try {
    return parseGroupVersion(apiVersion).group
  } catch {
    return undefined
  }
}
