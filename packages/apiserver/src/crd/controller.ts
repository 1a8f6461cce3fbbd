import { type CustomResourceDefinition, isNotFound, resourceInfoFromCrd } from '@coxswain/apimachinery'
import { AsyncQueue } from '@coxswain/kit'
import type { CacheWatcher } from '../cache/resource-cache.ts'
import { guaranteedUpdate } from '../handlers/guaranteed-update.ts'
import { formatTime, metadataOf } from '../handlers/lifecycle.ts'
import { childObject, type JsonObject } from '../json.ts'
import { createServedResource, type ServedResource } from '../registry/served-resource.ts'
import type { ServerState } from '../request/context.ts'
import { isConditionTrue, setCondition } from './conditions.ts'
import { cleanupFinalizer } from './strategy.ts'

interface Names {
  readonly plural: string
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly kind: string
  readonly listKind?: string
  readonly categories?: readonly string[]
}

const definitionsKey = '/apiextensions.k8s.io/customresourcedefinitions/'

/**
 * Turns CustomResourceDefinitions into served resources: accepts their names, marks them established, follows their
 * changes, and empties them before they go.
 */
export class CrdController {
  readonly #state: ServerState
  readonly #definitions: ServedResource
  /** The served definition of each name, as it was when it was put up. */
  readonly #served = new Map<string, string>()

  constructor(state: ServerState, definitions: ServedResource) {
    this.#state = state
    this.#definitions = definitions
  }

  /** Serves what is established already. For the start, before the server is ready. */
  loadEstablished(): void {
    for (const stored of this.#definitions.cache.list()) {
      const definition = stored.parse()
      if (isConditionTrue(definition.status as JsonObject, 'Established')) this.#serve(definition)
    }
  }

  /** Follows the definitions until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const names = new AsyncQueue<string>()
    const { cache } = this.#definitions
    const watcher: CacheWatcher = {
      namespace: '',
      onEvent: event => names.push(event.object.name),
      onEnd: () => names.end(),
    }
    cache.addWatcher(watcher)
    const stop = () => names.end()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    for (const stored of cache.list()) names.push(stored.name)
    try {
      for await (const name of names) {
        if (signal.aborted) return
        await this.#reconcile(name).catch(error => this.#onFailure(name, error))
      }
    } finally {
      cache.removeWatcher(watcher)
      signal.removeEventListener('abort', stop)
    }
  }

  #onFailure(name: string, error: unknown): void {
    if (isNotFound(error)) return
    this.#state.env.log.error('custom resource definition could not be put up', { name, error })
  }

  async #reconcile(name: string): Promise<void> {
    const stored = this.#definitions.cache.get(definitionsKey + name)
    if (!stored) return this.#withdraw(name)
    const definition = stored.parse()
    if (metadataOf(definition).deletionTimestamp) return await this.#finalize(name, definition)
    const established = isConditionTrue(definition.status as JsonObject, 'Established')
    await this.#updateStatus(name)
    if (established) this.#serve(definition)
  }

  /** Accepts the names if nobody else in the group has them, and establishes the definition. */
  async #updateStatus(name: string): Promise<void> {
    const now = formatTime(this.#state.env.clock.now())
    await this.#change(name, definition => {
      const status = childObject(definition, 'status')
      const { names, group } = definition.spec as { names: Names; group: string }
      const conflict = this.#findConflict(name, group, names)
      if (conflict) {
        setCondition(
          status,
          { type: 'NamesAccepted', status: 'False', reason: conflict.reason, message: conflict.message },
          now,
        )
        if (!isConditionTrue(status, 'Established')) {
          const message = 'not all names are accepted'
          setCondition(status, { type: 'Established', status: 'False', reason: 'NotAccepted', message }, now)
        }
        return
      }
      status.acceptedNames = { ...names }
      const accepted = {
        type: 'NamesAccepted',
        status: 'True',
        reason: 'NoConflicts',
        message: 'no conflicts found',
      } as const
      setCondition(status, accepted, now)
      const message = 'the initial names have been accepted'
      setCondition(
        status,
        { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message },
        now,
      )
    })
  }

  #findConflict(self: string, group: string, names: Names): { reason: string; message: string } | undefined {
    const wanted = [names.plural, names.singular ?? '', ...(names.shortNames ?? [])].filter(Boolean)
    for (const { info } of this.#state.registry.resources()) {
      if (info.group !== group || `${info.resource}.${info.group}` === self) continue
      const taken = wanted.find(candidate =>
        [info.resource, info.singular, ...info.shortNames].includes(candidate),
      )
      if (taken !== undefined) {
        const what =
          taken === names.plural
            ? 'PluralConflict'
            : taken === names.singular
              ? 'SingularConflict'
              : 'ShortNamesConflict'
        return { reason: what, message: `"${taken}" is already in use` }
      }
      if (info.kind === names.kind)
        return { reason: 'KindConflict', message: `"${names.kind}" is already in use` }
    }
    return undefined
  }

  #serve(definition: JsonObject): void {
    const { name } = metadataOf(definition) as { name: string }
    const shape = JSON.stringify([definition.spec, (definition.status as JsonObject).acceptedNames])
    if (this.#served.get(name) === shape) return
    const before = this.#served.has(name)
    this.#served.set(name, shape)
    const resource = createServedResource(
      resourceInfoFromCrd(definition as unknown as CustomResourceDefinition),
      {},
      {
        custom: true,
        cacheOf: prefix => this.#state.cache.resource(prefix),
      },
    )
    this.#state.registry.add(resource)
    if (before) resource.cache.endWatches()
  }

  #withdraw(name: string): void {
    if (!this.#served.delete(name)) return
    const dot = name.indexOf('.')
    const resource = this.#state.registry.findResource(name.slice(dot + 1), name.slice(0, dot))
    if (!resource) return
    this.#state.registry.remove(resource.info.group, resource.info.resource)
    resource.cache.endWatches()
  }

  /** Deletes every object of the definition, then lets the definition go. */
  async #finalize(name: string, definition: JsonObject): Promise<void> {
    if (!metadataOf(definition).finalizers?.includes(cleanupFinalizer)) return
    const now = formatTime(this.#state.env.clock.now())
    const spec = definition.spec as { group: string; names: Names }
    await this.#change(name, current => {
      const message = 'CustomResource deletion is in progress'
      setCondition(
        childObject(current, 'status'),
        { type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress', message },
        now,
      )
    })
    const objects = this.#state.cache.resource(`/${spec.group}/${spec.names.plural}/`)
    for (const object of objects.list().slice()) {
      const result = await this.#state.store.transact({ operations: [{ type: 'delete', key: object.key }] })
      await this.#state.cache.waitFor(result.revision)
    }
    await this.#change(name, current => {
      const metadata = metadataOf(current)
      metadata.finalizers = (metadata.finalizers ?? []).filter(finalizer => finalizer !== cleanupFinalizer)
      if (metadata.finalizers.length === 0) delete metadata.finalizers
    })
  }

  async #change(name: string, change: (definition: JsonObject) => void): Promise<void> {
    await guaranteedUpdate(this.#state, {
      endpoint: { resource: this.#definitions, version: this.#definitions.storageVersion },
      namespace: '',
      name,
      dryRun: false,
      conditional: () => false,
      change: async definition => {
        change(definition)
        const { deletionTimestamp, finalizers } = metadataOf(definition)
        return deletionTimestamp && !finalizers
          ? { type: 'delete', object: definition }
          : { type: 'put', object: definition }
      },
    })
  }
}
