import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import { type ApiObject, keyOf, type ObjectKey } from '@coxswain/apimachinery/meta'
import type { RateLimiter } from '@coxswain/workqueue'
import {
  type DefineDependent,
  type Dependent,
  type DependentsDefinition,
  type DependentsOptions,
  defineDependents,
} from './dependents/dependent.ts'
import { readOwner } from './dependents/marks.ts'
import { RuntimeError } from './errors.ts'
import { kindKey } from './internal/kind-key.ts'
import type { Predicate } from './predicates.ts'
import type { RbacOptions, RbacRule, RbacTarget, RbacVerb } from './rbac.ts'
import type { Reconciler } from './reconcile.ts'
import {
  type Channel,
  type CustomSource,
  type EventHandlers,
  type KindSource,
  type Lookup,
  type MapFunction,
  type OwnsOptions,
  ownersOf,
  type TimerSource,
} from './source.ts'

/** Options of a controller. */
export interface ControllerOptions {
  /** How many objects are reconciled concurrently; one object never is. @default 1 */
  readonly concurrency?: number
  /** The back-off of a failed object. @default per object, 5 ms doubling to 1000 s */
  readonly rateLimiter?: () => RateLimiter<string>
  /** Milliseconds after which a reconcile's signal aborts. @default never */
  readonly timeout?: number
  /** How often every object of the `for` kind is reconciled again, in milliseconds, plus or minus a tenth; 0: never. @default 10 hours */
  readonly resyncPeriod?: number
  /** The least milliseconds between two reconciles of one object that events cause; events in between are batched. @default 0 */
  readonly minInterval?: number
  /** Only the replica that leads runs it. @default true */
  readonly needsLeader?: boolean
  /** Who its events come from. @default the operator's name */
  readonly eventSource?: string
  /** A reconcile that keeps failing leaves a Warning event `ReconcileError` on its object. @default the host's setting: true */
  readonly errorEvents?: boolean
}

/** Which cluster a source watches. */
export interface ClusterChoice {
  /** One of the host's `clusters`. @default the operator's own */
  readonly cluster?: string
}

/** Options of the kinds that a controller watches. */
export interface WatchOptions<T extends ApiObject = ApiObject> {
  /** All have to pass. */
  readonly predicates?: readonly Predicate<T>[]
  /** Milliseconds for which events are batched before a reconcile. @default 0 */
  readonly delay?: number
  /** Priority of its events in the queue; the initial list and resyncs come after everything else. @default 0 */
  readonly priority?: number
}

/**
 * Clean-up before an object may be deleted. It is called until it returns without `requeueAfter`: one that has
 * to wait returns that, and is called again after the delay or at the next event.
 */
export interface FinalizerDefinition {
  /** A qualified name: `network.example.com/clean-up`. */
  readonly name: string
  readonly cleanUp: Reconciler
  /** Added by the code that needs it, not to every object. @default false */
  readonly onDemand?: boolean
}

/** A controller as data: what it watches, and what it does. */
export interface ControllerDefinition {
  readonly name: string
  readonly for: Kind | undefined
  readonly sources: readonly KindSource[]
  readonly channels: readonly Channel[]
  readonly timers: readonly TimerSource[]
  readonly customSources: readonly CustomSource[]
  readonly finalizers: readonly FinalizerDefinition[]
  readonly dependents: DependentsDefinition | undefined
  /** What it declares beyond the reads and writes that follow from the rest. */
  readonly rbac: readonly RbacRule[]
  readonly options: ControllerOptions
  readonly reconcile: Reconciler
}

/** Describes a controller step by step; `reconcile` ends the description. */
export interface ControllerBuilder<T extends ApiObject = ApiObject> {
  /** The kind whose objects are reconciled: every event of one causes a reconcile. Call it once. */
  for<K extends Kind>(kind: K, options?: WatchOptions<KindOf<K>>): ControllerBuilder<KindOf<K>>
  /** A kind whose objects are owned by those of `for`: every event of one causes a reconcile of its owner. */
  owns<K extends Kind>(kind: K, options?: WatchOptions<KindOf<K>> & OwnsOptions): ControllerBuilder<T>
  /**
   * Any other kind, and the keys that its objects map to: a function of the object, or one for each type of event that sees
   * the old object too. They may be in another cluster of the host.
   */
  watches<K extends Kind>(
    kind: K,
    map: MapFunction<KindOf<K>> | EventHandlers<KindOf<K>>,
    options?: WatchOptions<KindOf<K>> & ClusterChoice,
  ): ControllerBuilder<T>
  /** Events from outside the cluster. */
  channel(channel: Channel): ControllerBuilder<T>
  /** Events from anywhere, from a function that runs as long as the controller: see {@link CustomSource}. */
  source(run: CustomSource): ControllerBuilder<T>
  /** Ignores events that do not pass all of these, of whatever kind (`for`, `owns`, `watches`). */
  withEventFilter(...predicates: readonly Predicate[]): ControllerBuilder<T>
  /** Reconciles these objects every `every` milliseconds. @default all objects of the `for` kind */
  timer(every: number, keys?: (lookup: Lookup) => readonly ObjectKey[]): ControllerBuilder<T>
  /**
   * Adds a finalizer to every object of `for` before it is reconciled, calls `cleanUp` instead of the reconcile when it
   * is being deleted, and removes the finalizer when that has succeeded. There may be several: each is called, in this
   * order, and removed when it succeeds.
   */
  finalizer(name: string, cleanUp: FinalizerDefinition['cleanUp']): ControllerBuilder<T>
  /**
   * Objects that the controller computes from each object of `for`: applied in order before the reconcile, pruned,
   * summarized in a condition of the object's status, and deleted with it. Their kinds need no `owns`.
   */
  dependents(
    define: (dependent: DefineDependent<T>) => readonly Dependent[],
    options?: DependentsOptions,
  ): ControllerBuilder<T>
  /**
   * What the reconcile does that nothing else tells: `.rbac(Pod, ['create', 'delete'])`. `coxswain manifests` writes it into the
   * controller's role. Reads of `for`, `owns` and `watches`, and the writes of finalizers and dependents, need no declaration.
   */
  rbac(target: RbacTarget, verbs: readonly RbacVerb[], options?: RbacOptions): ControllerBuilder<T>
  options(options: ControllerOptions): ControllerBuilder<T>
  /** Optional for a controller with dependents. */
  reconcile(reconciler?: Reconciler): void
}

interface SourceOptions extends ClusterChoice {
  readonly predicates?: unknown
  readonly delay?: number
  readonly priority?: number
  readonly handlers?: EventHandlers
  readonly lazy?: boolean
}

const noKeys: MapFunction = () => []

export function createControllerBuilder(
  name: string,
  onDefined: (definition: ControllerDefinition) => void,
): ControllerBuilder {
  let subject: Kind | undefined
  let owned = false
  const finalizers: FinalizerDefinition[] = []
  const filters: Predicate[] = []
  let dependents: DependentsDefinition | undefined
  const customSources: CustomSource[] = []
  const rbac: RbacRule[] = []
  let settings: ControllerOptions = {}
  const sources: KindSource[] = []
  const channels: Channel[] = []
  const timers: { readonly every: number; readonly keys: TimerSource['keys'] | undefined }[] = []

  const subjectOf = (): Kind => {
    if (!subject) throw new RuntimeError('BadDefinition', `controller ${name} never calls for(...)`)
    return subject
  }
  const addSource = (
    role: KindSource['role'],
    kind: Kind,
    map: unknown,
    options: SourceOptions = {},
  ): void => {
    const { predicates, cluster, delay, priority, handlers, lazy } = options
    sources.push({
      role,
      kind,
      map: (map ?? noKeys) as MapFunction,
      ...(handlers && { handlers }),
      predicates: (predicates ?? []) as readonly Predicate[],
      ...(cluster !== undefined && { cluster }),
      ...(delay !== undefined && { delay }),
      ...(priority !== undefined && { priority }),
      ...(lazy && { lazy }),
    })
  }

  /** The owner of a dependent: by its labels, or by its owner references. */
  const ownersOfDependent: MapFunction = (object, lookup) => {
    const owner = readOwner(object)
    return owner?.controller === name ? [owner.key] : ownersOf(subjectOf())(object, lookup)
  }

  const builder: ControllerBuilder = {
    for(kind, options) {
      if (subject) throw new RuntimeError('BadDefinition', `controller ${name} calls for(...) twice`)
      subject = kind
      addSource('for', kind, (object: ApiObject) => [keyOf(object)], options)
      return builder as never
    },
    owns(kind, options) {
      owned = true
      // `for` may be called later: the owner's kind is looked up at the first event.
      let map: MapFunction | undefined
      const lazily: MapFunction = (object, lookup) => {
        map ??= ownersOf(subjectOf(), options)
        return map(object, lookup)
      }
      addSource('owns', kind, lazily, options)
      return builder
    },
    watches(kind, map, options) {
      if (typeof map === 'function') addSource('watches', kind, map, options)
      else addSource('watches', kind, undefined, { ...options, handlers: map as unknown as EventHandlers })
      return builder
    },
    source(run) {
      customSources.push(run)
      return builder
    },
    withEventFilter(...predicates) {
      for (const predicate of predicates) filters.push(predicate)
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
      if (finalizers.some(known => known.name === finalizerName))
        throw new RuntimeError('BadDefinition', `controller ${name} has finalizer ${finalizerName} twice`)
      finalizers.push({ name: finalizerName, cleanUp })
      return builder
    },
    dependents(define, options) {
      if (dependents)
        throw new RuntimeError('BadDefinition', `controller ${name} calls dependents(...) twice`)
      dependents = defineDependents(
        name,
        define((dependent, kind, given) => ({ name: dependent, kind, options: given as never })),
        options,
      )
      const kinds = new Map(dependents.dependents.map(({ kind }) => [kindKey(kind), kind]))
      for (const [id, kind] of kinds) {
        const lazy = dependents.dependents.every(
          each => kindKey(each.kind) !== id || each.options.activeWhen !== undefined,
        )
        addSource('owns', kind, ownersOfDependent, { lazy })
      }
      return builder
    },
    rbac(target, verbs, options = {}) {
      rbac.push({ target, verbs, options })
      return builder
    },
    options(options) {
      settings = { ...settings, ...options }
      return builder
    },
    reconcile(reconciler) {
      if (!reconciler && !dependents)
        throw new RuntimeError('BadDefinition', `controller ${name} has neither a reconcile nor dependents`)
      if (owned || dependents || finalizers.length > 0 || timers.some(({ keys }) => !keys)) subjectOf()
      onDefined({
        name,
        for: subject,
        sources:
          filters.length === 0
            ? sources
            : sources.map(source => ({ ...source, predicates: [...filters, ...source.predicates] })),
        channels,
        customSources,
        timers: timers.map(({ every, keys }) => ({
          every,
          keys: keys ?? (lookup => lookup.list(subjectOf()).map(object => keyOf(object as ApiObject))),
        })),
        finalizers,
        dependents,
        rbac,
        options: settings,
        reconcile: reconciler ?? (() => {}),
      })
    },
  }
  return builder
}
