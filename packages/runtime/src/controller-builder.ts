import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import { type ApiObject, keyOf, type ObjectKey } from '@coxswain/apimachinery/meta'
import type { RateLimiter } from '@coxswain/workqueue'
import { RuntimeError } from './errors.ts'
import type { Predicate } from './predicates.ts'
import type { Reconciler } from './reconcile.ts'
import {
  type Channel,
  type KindSource,
  type Lookup,
  type MapFunction,
  type OwnsOptions,
  ownersOf,
  type TimerSource,
} from './source.ts'

export interface ControllerOptions {
  /** How many objects are reconciled at once; one object never twice. @default 1 */
  readonly concurrency?: number
  /** How long a failed object waits. @default per object, 5 ms doubling to 1000 s */
  readonly rateLimiter?: () => RateLimiter<string>
  /** Milliseconds after which a reconcile's signal aborts. @default never */
  readonly timeout?: number
  /** Every object of the `for` kind is looked at again this often, in milliseconds, give or take a tenth; 0: never. @default 10 hours */
  readonly resyncPeriod?: number
  /** Milliseconds from one start to the next for the same object when events are the reason; what comes in between is one reason. @default 0 */
  readonly minInterval?: number
  /** Only the replica that leads runs it. @default true */
  readonly needsLeader?: boolean
  /** Who its events come from. @default the operator's name */
  readonly eventSource?: string
  /** A reconcile that keeps failing leaves a Warning event `ReconcileError` on its object. @default what the host says: true */
  readonly errorEvents?: boolean
}

export interface ClusterChoice {
  /** One of the host's `clusters`. @default the operator's own */
  readonly cluster?: string
}

export interface WatchOptions<T extends ApiObject = ApiObject> {
  /** All have to hold. */
  readonly predicates?: readonly Predicate<T>[]
  /** Milliseconds for which events are gathered before they are a reason to reconcile. @default 0 */
  readonly delay?: number
}

/**
 * Clean-up that has to happen before an object may go. It is called until it returns without `requeueAfter`: one that has
 * to wait for something says so with it, and is called again then or when something happens.
 */
export interface FinalizerDefinition {
  /** A qualified name: `network.example.com/clean-up`. */
  readonly name: string
  readonly cleanUp: Reconciler
}

/** A controller as data: what it watches, and what it does. */
export interface ControllerDefinition {
  readonly name: string
  readonly for: Kind | undefined
  readonly sources: readonly KindSource[]
  readonly channels: readonly Channel[]
  readonly timers: readonly TimerSource[]
  readonly finalizer: FinalizerDefinition | undefined
  readonly options: ControllerOptions
  readonly reconcile: Reconciler
}

/** Describes a controller step by step; `reconcile` ends the description. */
export interface ControllerBuilder {
  /** The kind whose objects are reconciled: whatever happens to one is a reason. Once. */
  for<K extends Kind>(kind: K, options?: WatchOptions<KindOf<K>>): ControllerBuilder
  /** A kind whose objects belong to those of `for`: whatever happens to one is a reason for its owner. */
  owns<K extends Kind>(kind: K, options?: WatchOptions<KindOf<K>> & OwnsOptions): ControllerBuilder
  /** Any other kind, and which keys its objects concern. They may be in another cluster that the host knows. */
  watches<K extends Kind>(
    kind: K,
    map: MapFunction<KindOf<K>>,
    options?: WatchOptions<KindOf<K>> & ClusterChoice,
  ): ControllerBuilder
  /** Events from outside. */
  channel(channel: Channel): ControllerBuilder
  /** Looks at these objects each `every` milliseconds. @default all objects of the `for` kind */
  timer(every: number, keys?: (lookup: Lookup) => readonly ObjectKey[]): ControllerBuilder
  /**
   * Adds a finalizer to every object of `for` before it is reconciled, calls `cleanUp` in place of the reconcile when it
   * is being deleted, and takes the finalizer off when that has succeeded.
   */
  finalizer(name: string, cleanUp: FinalizerDefinition['cleanUp']): ControllerBuilder
  options(options: ControllerOptions): ControllerBuilder
  reconcile(reconciler: Reconciler): void
}

export function createControllerBuilder(
  name: string,
  onDefined: (definition: ControllerDefinition) => void,
): ControllerBuilder {
  let subject: Kind | undefined
  let owned = false
  let finalizer: FinalizerDefinition | undefined
  let settings: ControllerOptions = {}
  const sources: KindSource[] = []
  const channels: Channel[] = []
  const timers: { readonly every: number; readonly keys: TimerSource['keys'] | undefined }[] = []

  const subjectOf = (): Kind => {
    if (!subject) throw new RuntimeError('BadDefinition', `controller ${name} says for(...) nowhere`)
    return subject
  }
  const addSource = (
    role: KindSource['role'],
    kind: Kind,
    map: unknown,
    options: { readonly predicates?: unknown; readonly cluster?: string; readonly delay?: number } = {},
  ): void => {
    const { predicates, cluster, delay } = options
    sources.push({
      role,
      kind,
      map: map as MapFunction,
      predicates: (predicates ?? []) as readonly Predicate[],
      ...(cluster !== undefined && { cluster }),
      ...(delay !== undefined && { delay }),
    })
  }

  const builder: ControllerBuilder = {
    for(kind, options) {
      if (subject) throw new RuntimeError('BadDefinition', `controller ${name} says for(...) twice`)
      subject = kind
      addSource('for', kind, (object: ApiObject) => [keyOf(object)], options)
      return builder
    },
    owns(kind, options) {
      owned = true
      // The owner's kind may be named later: it is looked up when the first event comes.
      let map: MapFunction | undefined
      const lazily: MapFunction = (object, lookup) => {
        map ??= ownersOf(subjectOf(), options)
        return map(object, lookup)
      }
      addSource('owns', kind, lazily, options)
      return builder
    },
    watches(kind, map, options) {
      addSource('watches', kind, map, options)
      return builder
    },
    channel(channel) {
      channels.push(channel)
      return builder
    },
    timer(every, keys) {
      timers.push({ every, keys })
      return builder
    },
    finalizer(finalizerName, cleanUp) {
      finalizer = { name: finalizerName, cleanUp }
      return builder
    },
    options(options) {
      settings = { ...settings, ...options }
      return builder
    },
    reconcile(reconciler) {
      if (owned || finalizer || timers.some(({ keys }) => !keys)) subjectOf()
      onDefined({
        name,
        for: subject,
        sources,
        channels,
        timers: timers.map(({ every, keys }) => ({
          every,
          keys: keys ?? (lookup => lookup.list(subjectOf()).map(object => keyOf(object as ApiObject))),
        })),
        finalizer,
        options: settings,
        reconcile: reconciler,
      })
    },
  }
  return builder
}
