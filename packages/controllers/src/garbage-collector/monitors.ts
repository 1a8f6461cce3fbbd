import type { ApiObject, DeepReadonly, OwnerReference } from '@coxswain/apimachinery/meta'
import type { Client } from '@coxswain/client'
import { Informer } from '@coxswain/informers'
import type { Env, TaskGroup } from '@coxswain/kit'
import { listerWatcherOf } from '@coxswain/runtime'
import { apiVersionOf, type ServedKind } from '../resource-kinds.ts'
import type { Observed } from './graph.ts'

/** Receives the events of informers. */
export interface Observer {
  observe(object: Observed): void
  forget(uid: string): void
}

export interface MonitorsOptions {
  readonly client: Client
  readonly env: Env
  readonly group: TaskGroup
  readonly observer: Observer
}

/** How long an unreadable resource may delay all work: its server or its conversion may be broken. */
const patience = 30_000

/** Resources without owners that change too often to be watched in vain. */
const ignored = new Set(['/events', 'events.k8s.io/events'])

const needed = ['delete', 'list', 'watch']

/** One informer for each resource that can be garbage collected. */
export class Monitors {
  readonly #options: MonitorsOptions
  readonly #running = new Map<string, { readonly stop: AbortController; readonly filled: Promise<void> }>()
  readonly #first = Promise.withResolvers<void>()
  /** Resolves when every discovered resource has synced. */
  #complete: Promise<unknown> = Promise.resolve()

  constructor(options: MonitorsOptions) {
    this.#options = options
  }

  /** Resolves when every discovered resource has synced or has failed to for a while. Not before the first `update`. */
  async complete(): Promise<void> {
    await this.#first.promise
    await this.#complete
  }

  /** Starts and stops informers to match what the server serves. */
  update(resources: readonly ServedKind[]): void {
    const present = new Map(
      resources.filter(isCollectable).map(each => [`${each.kind.group}/${each.kind.resource}`, each]),
    )
    for (const [name, resource] of present) if (!this.#running.has(name)) this.#start(name, resource)
    for (const [name, { stop }] of this.#running) {
      if (present.has(name)) continue
      stop.abort()
      this.#running.delete(name)
    }
    this.#complete = Promise.all([...this.#running.values()].map(({ filled }) => filled))
    this.#first.resolve()
  }

  /** Stops waiting. */
  end(): void {
    this.#first.resolve()
  }

  #start(name: string, { kind }: ServedKind): void {
    const { client, env, group, observer } = this.#options
    const stop = new AbortController()
    const apiVersion = apiVersionOf(kind)
    const observe = (object: DeepReadonly<ApiObject>) =>
      observer.observe(observedOf(object, apiVersion, kind.kind))
    const informer = new Informer<ApiObject>({
      env,
      name: `gc ${name}`,
      source: listerWatcherOf(client, kind, { metadataOnly: true }),
    })
    const registration = informer.addHandler({
      onAdd: observe,
      onUpdate: (_, object) => observe(object),
      onDelete: object => observer.forget(object.metadata.uid),
    })
    const ended = AbortSignal.any([group.signal, stop.signal])
    group.spawn(() => informer.run(ended))
    const waiting = new AbortController()
    const timer = env.clock.after(patience, () => {
      env.log.warn('garbage collection continues without a resource that cannot be read', { resource: name })
      waiting.abort()
    })
    const filled = registration.synced(AbortSignal.any([ended, waiting.signal])).then(() => timer.cancel())
    this.#running.set(name, { stop, filled })
  }
}

function isCollectable({ kind, verbs }: ServedKind): boolean {
  return needed.every(verb => verbs.includes(verb)) && !ignored.has(`${kind.group}/${kind.resource}`)
}

function observedOf(object: DeepReadonly<ApiObject>, apiVersion: string, kind: string): Observed {
  const {
    namespace = '',
    name,
    uid,
    ownerReferences = [],
    finalizers = [],
    deletionTimestamp,
  } = object.metadata
  return {
    apiVersion,
    kind,
    namespace,
    name,
    uid,
    owners: ownerReferences as readonly OwnerReference[],
    finalizers,
    isBeingDeleted: deletionTimestamp !== undefined,
  }
}
