import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { aborted, type Env, TaskGroup } from '@coxswain/kit'
import { Informer, type InformerOptions } from './informer.ts'
import type { ListerWatcher } from './lister-watcher.ts'

/** The scope of an informer. Users of equal scopes share one informer. */
export interface Scope {
  /** @default all namespaces */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Fetch and keep only type and metadata. @default false */
  readonly metadataOnly?: boolean
}

/** Options of an {@link InformerFactory}. */
export interface InformerFactoryOptions {
  readonly env: Env
  readonly listerWatcherFor: (kind: Kind, scope: Scope) => ListerWatcher
  /** Options of every informer of the factory. */
  readonly informers?: Pick<
    InformerOptions<ApiObject>,
    'transform' | 'watchList' | 'freeze' | 'detectMutations'
  >
}

/** The informers of one program: one for each resource and scope, started when the factory runs. */
export class InformerFactory {
  readonly #options: InformerFactoryOptions
  readonly #informers = new Map<string, Informer>()
  readonly #transforms = new Map<unknown, number>()
  #group: TaskGroup | undefined

  constructor(options: InformerFactoryOptions) {
    this.#options = options
  }

  get informers(): readonly Informer[] {
    return [...this.#informers.values()]
  }

  /**
   * The informer for a resource, scope and transform: always the same one. Starts at once if the factory is running.
   */
  informerFor<K extends Kind>(
    kind: K,
    scope: Scope = {},
    options: Pick<InformerOptions<ApiObject>, 'transform'> = {},
  ): Informer<KindOf<K> & ApiObject> {
    const key = scopeKey(kind, scope) + this.#transformKey(options.transform)
    let informer = this.#informers.get(key)
    if (!informer) {
      const { env, listerWatcherFor, informers } = this.#options
      informer = new Informer({
        ...informers,
        ...options,
        env,
        name: key,
        source: listerWatcherFor(kind, scope),
      })
      this.#informers.set(key, informer)
      this.#start(informer)
    }
    return informer as Informer<KindOf<K> & ApiObject>
  }

  /** Whether an informer for this scope exists. */
  has(kind: Kind, scope: Scope = {}): boolean {
    return this.#informers.has(scopeKey(kind, scope))
  }

  /** Runs every informer, including later ones, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const group = new TaskGroup(signal)
    this.#group = group
    group.spawn(aborted)
    for (const informer of this.#informers.values()) this.#start(informer)
    await group.join()
    this.#group = undefined
  }

  /** Resolves when every informer created so far has synced, or `signal` aborts: true if all have. */
  async synced(signal: AbortSignal): Promise<boolean> {
    const informers = this.informers
    await Promise.all(informers.map(informer => informer.synced(signal)))
    return informers.every(informer => informer.hasSynced)
  }

  /** Users of different transforms cannot share what is kept. */
  #transformKey(transform: InformerOptions<ApiObject>['transform']): string {
    if (!transform) return ''
    const id = this.#transforms.get(transform) ?? this.#transforms.size + 1
    this.#transforms.set(transform, id)
    return `?transform=${id}`
  }

  #start(informer: Informer): void {
    this.#group?.spawn(signal => informer.run(signal))
  }
}

function scopeKey(kind: Kind, scope: Scope): string {
  const { namespace, labelSelector, fieldSelector, metadataOnly } = scope
  let key = kind.group ? `${kind.resource}.${kind.version}.${kind.group}` : kind.resource
  if (namespace) key += ` in ${namespace}`
  if (labelSelector) key += ` with labels ${labelSelector}`
  if (fieldSelector) key += ` with fields ${fieldSelector}`
  if (metadataOnly) key += ' (metadata)'
  return key
}
