import { ReplicaSet, StatefulSet } from '@coxswain/api/apps/v1'
import {
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  Service,
} from '@coxswain/api/core/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import { CSINode, StorageClass } from '@coxswain/api/storage/v1'
import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import { type ApiObject, type DeepReadonly, formatKey, type ObjectKey } from '@coxswain/apimachinery/meta'
import type { Client } from '@coxswain/client'
import { type EventHandler, Informer, type Registration } from '@coxswain/informers'
import type { Env } from '@coxswain/kit'
import { listerWatcherOf } from '@coxswain/runtime'

/** The kinds that built-in plug-ins read besides pods and nodes, which the scheduler caches in a form of its own. */
const kinds: readonly Kind[] = [
  Pod,
  Node,
  Namespace,
  Service,
  ReplicationController,
  ReplicaSet,
  StatefulSet,
  PersistentVolumeClaim,
  PersistentVolume,
  StorageClass,
  CSINode,
  PodDisruptionBudget,
]

const idOf = ({ group, kind }: Kind): string => `${group}/${kind}`

/** Informers of all kinds that a scheduler reads. */
export class WatchedKinds {
  readonly #informers = new Map<string, Informer<ApiObject>>()
  readonly #kinds = new Map<string, Kind>()
  readonly #registrations: Registration[] = []

  /** `more` are the kinds that your own plug-ins read. */
  constructor(client: Client, env: Env, more: readonly Kind[] = []) {
    for (const kind of [...kinds, ...more]) {
      const id = idOf(kind)
      if (this.#informers.has(id)) continue
      this.#kinds.set(id, kind)
      const source = listerWatcherOf(client, kind, {})
      this.#informers.set(id, new Informer<ApiObject>({ env, name: `scheduler ${id}`, source }))
    }
  }

  get kinds(): Iterable<Kind> {
    return this.#kinds.values()
  }

  addHandler<K extends Kind>(kind: K, handler: EventHandler<KindOf<K> & ApiObject>): void {
    const registration = this.#informerOf(kind).addHandler(handler as unknown as EventHandler<ApiObject>)
    this.#registrations.push(registration)
  }

  get<K extends Kind>(kind: K, key: ObjectKey): DeepReadonly<KindOf<K>> | undefined {
    return this.#informerOf(kind).store.get(formatKey(key)) as DeepReadonly<KindOf<K>> | undefined
  }

  list<K extends Kind>(kind: K, namespace?: string): readonly DeepReadonly<KindOf<K>>[] {
    return this.#informerOf(kind).store.list(namespace) as DeepReadonly<KindOf<K>>[]
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map(informer => informer.run(signal)))
  }

  /** Resolves when all informers have synced and the handlers have received their objects. */
  async synced(signal: AbortSignal): Promise<void> {
    for (const informer of this.#informers.values()) await informer.synced(signal)
    for (const registration of this.#registrations) await registration.synced(signal)
  }

  #informerOf(kind: Kind): Informer<ApiObject> {
    const informer = this.#informers.get(idOf(kind))
    if (!informer) throw new TypeError(`the scheduler does not watch ${kind.kind}: add it to options.kinds`)
    return informer
  }
}
