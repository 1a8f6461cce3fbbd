import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import {
  type ApiObject,
  type DeepReadonly,
  type ObjectKey,
  parseGroupVersion,
} from '@coxswain/apimachinery/meta'
import type { Clock, Logger } from '@coxswain/kit'
import type { CachedListOptions } from './cache.ts'
import type { ObjectEvent, Predicate } from './predicates.ts'

/** Reads of the cache, for mapping functions. */
export interface Lookup {
  get<K extends Kind>(kind: K, key: ObjectKey): DeepReadonly<KindOf<K>> | undefined
  list<K extends Kind>(kind: K, options?: CachedListOptions): DeepReadonly<KindOf<K>>[]
}

/** The keys to reconcile after an event of `object`. */
export type MapFunction<T extends ApiObject = ApiObject> = (
  object: DeepReadonly<T>,
  lookup: Lookup,
) => readonly ObjectKey[]

/** An event of one type. */
type EventOf<T extends ApiObject, Type extends ObjectEvent['type']> = Extract<
  ObjectEvent<T>,
  { readonly type: Type }
>

/**
 * The keys to reconcile, by type of event; an update has the new object (`object`) and the
 * old one (`old`). Events of a type without a function are ignored.
 */
export interface EventHandlers<T extends ApiObject = ApiObject> {
  create?(event: EventOf<T, 'create'>, lookup: Lookup): readonly ObjectKey[]
  update?(event: EventOf<T, 'update'>, lookup: Lookup): readonly ObjectKey[]
  delete?(event: EventOf<T, 'delete'>, lookup: Lookup): readonly ObjectKey[]
}

/** The keys that `handlers` return for an event. */
export function keysOfEvent(
  handlers: EventHandlers,
  event: ObjectEvent,
  lookup: Lookup,
): readonly ObjectKey[] {
  switch (event.type) {
    case 'create':
      return handlers.create?.(event, lookup) ?? []
    case 'update':
      return handlers.update?.(event, lookup) ?? []
    case 'delete':
      return handlers.delete?.(event, lookup) ?? []
  }
}

/** What a custom source works with. */
export interface SourceContext {
  /** Requests a reconcile of this object. */
  send(key: ObjectKey, options?: { readonly priority?: number; readonly after?: number }): void
  /** The initial state has been sent: reconciles start when every source has called this. */
  ready(): void
  readonly lookup: Lookup
  readonly clock: Clock
  readonly log: Logger
  /** Aborts when the controller stops. */
  readonly signal: AbortSignal
}

/**
 * Gets events from anywhere: a queue, a webhook, another system. Runs until the signal aborts. One that returns earlier has no
 * more events; one that throws is logged and restarted with back-off (1 s doubling to 1 min).
 */
export type CustomSource = (context: SourceContext) => Promise<void>

/** A kind that a controller watches, and how its events map to keys. */
export interface KindSource {
  readonly role: 'for' | 'owns' | 'watches'
  readonly kind: Kind
  readonly map: MapFunction
  /** Instead of `map`. */
  readonly handlers?: EventHandlers
  readonly predicates: readonly Predicate[]
  /** Where its objects are. @default the operator's own cluster */
  readonly cluster?: string
  /** Milliseconds for which events are batched. @default 0 */
  readonly delay?: number
  /** @default 0 */
  readonly priority?: number
  /** Watched only when a reconcile requests it. @default false */
  readonly lazy?: boolean
}

/** Events from outside the cluster. Send the keys of objects to reconcile. */
export interface Channel {
  send(key: ObjectKey): void
  /** For controllers. Returns the unsubscribe function. */
  subscribe(receiver: (key: ObjectKey) => void): () => void
}

/** Creates a {@link Channel}: `send(key)` reconciles an object for something that happened outside the cluster. */
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

/** Reconciles objects periodically. */
export interface TimerSource {
  readonly every: number
  readonly keys: (lookup: Lookup) => readonly ObjectKey[]
}

/** Which owner references count. */
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
