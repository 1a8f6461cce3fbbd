import { childObject, deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type CustomResourceDefinition, resourceInfoFromCrd } from '@coxswain/apimachinery/kinds'
import { formatTime } from '@coxswain/apimachinery/time'
import type { Env, Timer } from '@coxswain/kit'
import type { ConvertAll } from '@coxswain/strategies'
import {
  type CrdNames,
  isConditionTrue,
  readCrd,
  setApproval,
  setCondition,
  setEstablished,
  setNames,
  setNonStructural,
  type TakenNames,
  takenNames,
} from '@coxswain/strategies/apiextensions'
import { ControlLoop } from '../cache/control-loop.ts'
import type { CacheWatcher } from '../cache/resource-cache.ts'
import type { StoredObject } from '../cache/stored-object.ts'
import { createServedResource, type Registry, type ServedResource } from '../registry/registry.ts'
import { deleteObject } from '../write/delete.ts'
import type { DeletePorts } from '../write/deletion.ts'
import { guaranteedUpdate } from '../write/guaranteed-update.ts'
import { ignoreDeleted } from '../write/ignore-deleted.ts'
import { metadataOf } from '../write/metadata.ts'
import { pipelines } from '../write/pipeline.ts'
import { createCustomConventions, createStaleReader } from './conventions.ts'
import { createCustomStrategy } from './custom-strategy.ts'
import { cleanupFinalizer } from './strategy.ts'
import { type ConversionWebhook, type ConverterPorts, createWebhookConverter } from './webhook-converter.ts'

/** What serving CRDs needs of the server. */
export interface CrdPorts extends DeletePorts, ConverterPorts {
  readonly env: Env
  readonly registry: Registry
}

const crdPrefix = '/apiextensions.k8s.io/customresourcedefinitions/'

/** Requests that began before a schema change may still write under the old schema; none of them lasts longer. */
const longestRequest = 60_000

/** The user that deletes the objects of a terminating CRD. */
const finalizer = { name: 'system:apiserver', groups: ['system:masters'] }

/** A CRD as it was when it was last served. */
interface Serving {
  readonly resource: ServedResource
  readonly spec: unknown
  readonly names: unknown
  /** Ends the time in which writes under an earlier schema may arrive. */
  readonly settling: Timer | undefined
}

interface AcceptedNames {
  readonly group: string
  readonly names: CrdNames
}

/**
 * Turns CustomResourceDefinitions into served resources: accepts their names, establishes them, follows their
 * changes, and deletes their objects before they are deleted.
 */
export class CrdController {
  readonly #ports: CrdPorts
  readonly #crds: ServedResource
  readonly #served = new Map<string, Serving>()
  /** Terminating CRDs whose objects are being deleted, with the watcher that notices when the last one was deleted. */
  readonly #emptying = new Map<string, CacheWatcher>()
  /** CRDs that wait for names which other CRDs hold. */
  readonly #waiting = new Set<string>()
  /** The accepted names of each version of a CRD: CRDs are large, and every new one checks its whole group. */
  readonly #accepted = new WeakMap<StoredObject, AcceptedNames>()
  readonly #loop: ControlLoop
  /** False while CRDs that were served before are loaded. */
  #running = false

  constructor(ports: CrdPorts, crds: ServedResource) {
    this.#ports = ports
    this.#crds = crds
    this.#loop = new ControlLoop(ports, {
      name: 'custom-resource-definitions',
      prefixes: [crds.cache.prefix],
      reconcile: name => this.#reconcile(name).catch(ignoreDeleted),
    })
  }

  /** Serves CRDs that are already established. For the start, before the server is ready. */
  loadEstablished(): void {
    for (const stored of this.#crds.cache.list()) {
      const crd = stored.parse()
      if (isConditionTrue(crd.status as JsonObject, 'Established')) this.#serve(crd)
    }
  }

  /** Reconciles CRDs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#running = true
    try {
      await this.#loop.run(signal)
    } finally {
      for (const { settling } of this.#served.values()) settling?.cancel()
    }
  }

  async #reconcile(name: string): Promise<void> {
    const stored = this.#crds.cache.get(crdPrefix + name)
    if (!stored) {
      this.#withdraw(name)
      return
    }
    const crd = stored.parse()
    if (metadataOf(crd).deletionTimestamp) {
      await this.#finalize(name, crd)
      return
    }
    const status = crd.status as JsonObject | undefined
    const now = formatTime(this.#ports.env.clock.now())
    // A CRD is served before it is reported as established, but not before its names are accepted.
    if (isConditionTrue(status, 'NamesAccepted') || isConditionTrue(status, 'Established')) {
      this.#serve(crd)
    }
    const { changed } = await this.#change(name, current => {
      const read = readCrd(current)
      const currentStatus = childObject(current, 'status')
      setNames(read, currentStatus, { taken: () => this.#taken(name, read.spec.group ?? ''), now })
      if (isConditionTrue(currentStatus, 'NamesAccepted')) this.#waiting.delete(name)
      else this.#waiting.add(name)
      setApproval(read, currentStatus, now)
      setNonStructural(read, currentStatus, now)
    })
    // The write comes back as a watch event, which continues from there.
    if (changed) this.#reconsiderGroup(name)
    else
      await this.#change(name, current => {
        setEstablished(readCrd(current), childObject(current, 'status'), now)
      })
  }

  /** The names that other CRDs of the group hold. */
  #taken(self: string, group: string): TakenNames {
    const held: CrdNames[] = []
    for (const stored of this.#crds.cache.list()) {
      if (stored.name === self || !stored.name.endsWith(`.${group}`)) continue
      const accepted = this.#acceptedNames(stored)
      if (accepted.group === group) held.push(accepted.names)
    }
    return takenNames(held)
  }

  #acceptedNames(stored: StoredObject): AcceptedNames {
    let accepted = this.#accepted.get(stored)
    if (!accepted) {
      const { spec, status } = stored.parse() as { spec?: { group?: string }; status?: JsonObject }
      accepted = { group: spec?.group ?? '', names: (status?.acceptedNames ?? {}) as CrdNames }
      this.#accepted.set(stored, accepted)
    }
    return accepted
  }

  /** A CRD may have released names that other CRDs of its group wait for. */
  #reconsiderGroup(self: string): void {
    const group = self.slice(self.indexOf('.'))
    for (const name of this.#waiting) if (name !== self && name.endsWith(group)) this.#loop.add(name)
  }

  #serve(crd: JsonObject): void {
    const { name } = metadataOf(crd) as { name: string }
    const spec = crd.spec as JsonObject
    const names = (crd.status as JsonObject).acceptedNames
    const before = this.#served.get(name)
    if (before && deepEqual(before.spec, spec) && deepEqual(before.names, names)) return
    const info = resourceInfoFromCrd({
      ...crd,
      spec: { ...spec, names },
    } as unknown as CustomResourceDefinition)
    const { registry, cache, env } = this.#ports
    if (registry.findResource(info.group, info.resource)?.inScheme) return
    const resource = createServedResource(info, {
      strategy: createCustomStrategy(info, {
        isTerminating: () => this.#emptying.has(name),
        convertAll: this.#converterOf(spec),
      }),
      conventions: createCustomConventions(info),
      cacheOf: prefix => cache.resource(prefix),
    })
    registry.add(resource)
    before?.settling?.cancel()
    // History starts over: earlier events may not match the schema that objects have now.
    if (this.#running) resource.cache.forgetHistory(cache.revision)
    let settling: Timer | undefined
    if (before) {
      resource.cache.setReader(createStaleReader(resource, Number.POSITIVE_INFINITY))
      settling = env.clock.after(longestRequest, () => resource.cache.setReader(undefined))
      resource.cache.endWatches()
    } else {
      // Written before the last change of the CRD, so perhaps under another schema.
      const { resourceVersion = '0' } = metadataOf(crd)
      resource.cache.setReader(createStaleReader(resource, Number(resourceVersion)))
      resource.cache.setReader(undefined)
    }
    this.#served.set(name, { resource, spec, names, settling })
  }

  #converterOf({ conversion }: JsonObject): ConvertAll | undefined {
    const { strategy, webhook } = isObject(conversion) ? conversion : {}
    return strategy === 'Webhook' && isObject(webhook)
      ? createWebhookConverter(this.#ports, webhook as ConversionWebhook)
      : undefined
  }

  #withdraw(name: string): void {
    this.#stopEmptying(name)
    this.#waiting.delete(name)
    this.#reconsiderGroup(name)
    const serving = this.#served.get(name)
    if (!serving) return
    this.#served.delete(name)
    serving.settling?.cancel()
    const { info, cache } = serving.resource
    this.#ports.registry.remove(info.group, info.resource)
    cache.setReader(undefined)
    cache.endWatches()
  }

  /** Deletes every object of the CRD, and then removes the CRD's finalizer. */
  async #finalize(name: string, crd: JsonObject): Promise<void> {
    if (!metadataOf(crd).finalizers?.includes(cleanupFinalizer)) return
    const now = formatTime(this.#ports.env.clock.now())
    const setTerminating = (status: 'True' | 'False', reason: string, message: string) =>
      this.#change(name, current =>
        setCondition(childObject(current, 'status'), { type: 'Terminating', status, reason, message }, now),
      )
    await setTerminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress')
    const resource = this.#served.get(name)?.resource
    if (resource) {
      this.#startEmptying(name, resource)
      await this.#deleteObjects(resource)
      if (resource.cache.size > 0) return
      await setTerminating('False', 'InstanceDeletionCompleted', 'removed all instances')
    } else {
      await setTerminating('False', 'NeverEstablished', 'resource was never established')
    }
    await this.#change(name, current => {
      const metadata = metadataOf(current)
      metadata.finalizers = (metadata.finalizers ?? []).filter(held => held !== cleanupFinalizer)
      if (metadata.finalizers.length === 0) delete metadata.finalizers
    })
  }

  async #deleteObjects(resource: ServedResource): Promise<void> {
    const endpoint = { resource, version: resource.storageVersion }
    const options = {
      dryRun: false,
      gracePeriodSeconds: undefined,
      propagationPolicy: undefined,
      preconditions: {},
    }
    for (const { namespace, name } of resource.cache.list().slice()) {
      const request = { context: { user: finalizer }, endpoint, namespace, name, options }
      await deleteObject(this.#ports, request, pipelines.deleteAdmitted).catch(ignoreDeleted)
    }
  }

  #startEmptying(name: string, { cache }: ServedResource): void {
    if (this.#emptying.has(name)) return
    const watcher: CacheWatcher = {
      namespace: '',
      onEvent: event => {
        if (event.type === 'DELETED' && cache.size === 0) this.#loop.add(name)
      },
      onEnd: () => {
        this.#emptying.delete(name)
        this.#loop.add(name)
      },
    }
    cache.addWatcher(watcher)
    this.#emptying.set(name, watcher)
  }

  #stopEmptying(name: string): void {
    const watcher = this.#emptying.get(name)
    if (watcher) this.#served.get(name)?.resource.cache.removeWatcher(watcher)
    this.#emptying.delete(name)
  }

  /** Updates a CRD in the store. Returns whether that changed anything. */
  async #change(name: string, change: (crd: JsonObject) => void): Promise<{ readonly changed: boolean }> {
    let before: unknown
    const result = await guaranteedUpdate(this.#ports, {
      endpoint: { resource: this.#crds, version: this.#crds.storageVersion },
      namespace: '',
      name,
      dryRun: false,
      conditional: () => false,
      change: async crd => {
        before = metadataOf(crd).resourceVersion
        change(crd)
        const { deletionTimestamp, finalizers } = metadataOf(crd)
        return deletionTimestamp && !finalizers
          ? { type: 'delete', object: crd }
          : { type: 'put', object: crd }
      },
    })
    return { changed: !('revision' in result) || String(result.revision) !== before }
  }
}
