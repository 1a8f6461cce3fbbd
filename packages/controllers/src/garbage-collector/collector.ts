import { deepEqual } from '@coxswain/apimachinery/json'
import type { ObjectMeta, OwnerReference } from '@coxswain/apimachinery/meta'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import type { Client } from '@coxswain/client'
import { metadataOf } from '@coxswain/client'
import { type Env, TaskGroup } from '@coxswain/kit'
import type { EventRecorder, EventSubject } from '@coxswain/runtime'
import { WorkQueue } from '@coxswain/workqueue'
import type { ResourceSource } from '../resource-kinds.ts'
import { foregroundFinalizer, Graph, type GraphNode, type Observed, orphanFinalizer } from './graph.ts'
import { AbsentOwners, type Identity } from './identity.ts'

export interface CollectorOptions {
  readonly client: Client
  readonly env: Env
  readonly kinds: ResourceSource
  readonly events: EventRecorder
  /** Resolves when all objects have been observed: an object that was not observed must not be taken for absent. */
  readonly isComplete: () => Promise<void>
  /** @default 4 */
  readonly workers?: number
}

type Live = { readonly metadata: ObjectMeta & { uid: string } }

/** Deletes objects whose owners no longer exist. Informers feed it; it checks with the server before it acts. */
export class Collector {
  readonly #client: Client
  readonly #env: Env
  readonly #kinds: ResourceSource
  readonly #events: EventRecorder
  readonly #workers: number
  readonly #toDelete: WorkQueue<string>
  readonly #toOrphan: WorkQueue<string>
  readonly #graph: Graph
  readonly #absent = new AbsentOwners()
  readonly #isComplete: () => Promise<void>
  #stopped = false

  constructor(options: CollectorOptions) {
    this.#client = options.client
    this.#env = options.env
    this.#kinds = options.kinds
    this.#events = options.events
    this.#workers = options.workers ?? 4
    const { clock } = options.env
    this.#toDelete = new WorkQueue({ clock })
    this.#toOrphan = new WorkQueue({ clock })
    this.#isComplete = options.isComplete
    this.#graph = new Graph(
      {
        attemptToDelete: uid => this.#toDelete.add(uid),
        attemptToOrphan: uid => this.#toOrphan.add(uid),
        reportInvalidNamespace: (dependent, owner) => this.#report(dependent, owner),
      },
      this.#absent,
    )
  }

  observe(object: Observed): void {
    this.#graph.observe(object)
  }

  forget(uid: string): void {
    this.#graph.forget(uid)
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await using group = new TaskGroup(signal)
    for (let i = 0; i < this.#workers; i++) {
      group.spawn(() => this.#work(this.#toDelete, node => this.#attemptToDelete(node)))
    }
    group.spawn(() =>
      this.#work(this.#toOrphan, async node => {
        await this.#orphanDependents(node)
        return undefined
      }),
    )
    const stop = () => {
      this.#stopped = true
      this.#toDelete.shutDown()
      this.#toOrphan.shutDown()
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    await group.join()
  }

  async #work(
    queue: WorkQueue<string>,
    process: (node: GraphNode) => Promise<'again' | undefined>,
  ): Promise<void> {
    for (let uid = await queue.get(); uid !== undefined; uid = await queue.get()) {
      await this.#isComplete()
      const node = this.#graph.get(uid)
      try {
        const outcome = node && !this.#stopped && (await process(node))
        if (outcome === 'again') queue.addRateLimited(uid)
        else queue.forget(uid)
      } catch (error) {
        if (!this.#stopped) {
          this.#env.log.warn('garbage collection will be retried', { error, object: node?.identity })
        }
        queue.addRateLimited(uid)
      } finally {
        queue.done(uid)
      }
    }
  }

  async #attemptToDelete(node: GraphNode): Promise<'again' | undefined> {
    if (node.isBeingDeleted && !node.isDeletingDependents) return undefined
    const { identity } = node
    const kind = await this.#kinds.find(identity.apiVersion, identity.kind)
    if (kind.namespaced && identity.namespace === '') {
      // A cluster-scoped object names it as owner, and cannot be owned by a namespaced object.
      this.#graph.declareAbsent(identity)
      return this.#againIfVirtual(identity.uid)
    }
    const wanted = kind.namespaced ? identity : { ...identity, namespace: '' }
    const live = await this.#find(wanted)
    if (live?.metadata.uid !== identity.uid) {
      this.#graph.declareAbsent(wanted)
      return this.#againIfVirtual(identity.uid)
    }
    // No informer has observed this object yet, so none will report its deletion: it has to be checked again.
    if (node.isVirtual) return 'again'
    if (node.isDeletingDependents) await this.#awaitDependents(node, live)
    else await this.#judge(node, live)
    return undefined
  }

  #againIfVirtual(uid: string): 'again' | undefined {
    return this.#graph.get(uid)?.isVirtual ? 'again' : undefined
  }

  /** Deletes an object without a solid owner, and removes references to owners that do not exist or are waiting. */
  async #judge(node: GraphNode, live: Live): Promise<void> {
    const owners = live.metadata.ownerReferences ?? []
    if (owners.length === 0) return
    const classes = await this.#classify(node, owners).catch(error => {
      if (error instanceof InvalidOwner) return undefined
      throw error
    })
    if (!classes) return
    const { solid, dangling, waiting } = classes
    if (solid.length > 0) {
      if (dangling.length + waiting.length > 0) await this.#dropOwners(node, live, [...dangling, ...waiting])
    } else if (waiting.length > 0 && node.dependents.size > 0) {
      // A cycle of blocking dependents would never be deleted: this one is unblocked.
      if ([...node.dependents].some(dependent => dependent.isDeletingDependents))
        await this.#unblockOwners(node, live)
      await this.#delete(node, live, 'Foreground')
    } else {
      await this.#delete(node, live, policyOf(live.metadata.finalizers ?? []))
    }
  }

  /** Splits owners into existing, absent, and those that wait for the deletion of their dependents. */
  async #classify(node: GraphNode, owners: readonly OwnerReference[]) {
    const solid: OwnerReference[] = []
    const dangling: OwnerReference[] = []
    const waiting: OwnerReference[] = []
    for (const owner of owners) {
      const found = await this.#findOwner(node, owner)
      if (!found) dangling.push(owner)
      else if (isWaiting(found.metadata)) waiting.push(owner)
      else solid.push(owner)
    }
    return { solid, dangling, waiting }
  }

  /** Undefined if the owner does not exist. Throws InvalidOwner if it cannot exist. */
  async #findOwner(node: GraphNode, owner: OwnerReference): Promise<Live | undefined> {
    const { apiVersion, kind: kindName, name, uid } = owner
    const { namespace } = node.identity
    const reference = { apiVersion, kind: kindName, name, uid }
    if ([namespace, ''].some(each => this.#absent.has({ ...reference, namespace: each }))) return undefined
    const kind = await this.#kinds.find(apiVersion, kindName)
    if (kind.namespaced && namespace === '') throw new InvalidOwner()
    const wanted = { ...reference, namespace: kind.namespaced ? namespace : '' }
    const found = await this.#find(wanted)
    if (found?.metadata.uid === uid) return found
    this.#absent.add(wanted)
    return undefined
  }

  #report(node: GraphNode, owner: OwnerReference): void {
    const { apiVersion, kind, namespace, name, uid } = node.identity
    const message = `ownerRef [${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}] does not exist in namespace ${JSON.stringify(namespace)}`
    const object = { apiVersion, kind, metadata: { name, uid, ...(namespace !== '' && { namespace }) } }
    this.#events.warning(object as EventSubject, 'OwnerRefInvalidNamespace', message)
  }

  /** The object itself is deleted when no dependent blocks it any more. */
  async #awaitDependents(node: GraphNode, live: Live): Promise<void> {
    const blocking = [...node.dependents].filter(dependent =>
      dependent.owners.some(owner => owner.uid === node.identity.uid && owner.blockOwnerDeletion),
    )
    if (blocking.length === 0) return await this.#removeFinalizer(node, live, foregroundFinalizer)
    for (const { identity, isDeletingDependents } of blocking) {
      if (!isDeletingDependents) this.#toDelete.add(identity.uid)
    }
  }

  async #orphanDependents(node: GraphNode): Promise<void> {
    const { uid } = node.identity
    for (const dependent of [...node.dependents]) {
      const live = await this.#find(dependent.identity)
      if (!live || live.metadata.uid !== dependent.identity.uid) continue
      const references = (live.metadata.ownerReferences ?? []).filter(owner => owner.uid === uid)
      if (references.length > 0) await this.#dropOwners(dependent, live, references)
    }
    const live = await this.#find(node.identity)
    if (live && live.metadata.uid === uid) await this.#removeFinalizer(node, live, orphanFinalizer)
  }

  async #dropOwners(node: GraphNode, live: Live, dropped: readonly OwnerReference[]): Promise<void> {
    const uids = new Set(dropped.map(({ uid }) => uid))
    const ownerReferences = (live.metadata.ownerReferences ?? []).filter(owner => !uids.has(owner.uid))
    await this.#patch(node, live, { ownerReferences })
  }

  async #unblockOwners(node: GraphNode, live: Live): Promise<void> {
    const ownerReferences = (live.metadata.ownerReferences ?? []).map(owner => ({
      ...owner,
      blockOwnerDeletion: false,
    }))
    await this.#patch(node, live, { ownerReferences })
  }

  async #removeFinalizer(node: GraphNode, live: Live, finalizer: string): Promise<void> {
    const finalizers = live.metadata.finalizers ?? []
    if (!finalizers.includes(finalizer)) return
    await this.#patch(node, live, { finalizers: finalizers.filter(name => name !== finalizer) })
  }

  /** Patches metadata if the object is unchanged since it was read; a conflict is retried. */
  async #patch(node: GraphNode, live: Live, metadata: Partial<ObjectMeta>): Promise<void> {
    const { uid, resourceVersion } = live.metadata
    const kind = await this.#kindOf(node.identity)
    const patch = { metadata: { ...metadata, uid, resourceVersion } }
    try {
      await this.#client.patch(kind, keyOf(node.identity), patch, { type: 'merge' })
    } catch (error) {
      if (isNotFound(error)) return
      throw error
    }
  }

  async #delete(
    node: GraphNode,
    live: Live,
    propagationPolicy: 'Orphan' | 'Foreground' | 'Background',
  ): Promise<void> {
    const { uid, resourceVersion } = live.metadata
    const kind = await this.#kindOf(node.identity)
    const key = keyOf(node.identity)
    const attempt = (preconditions: { readonly uid: string; readonly resourceVersion?: string }) =>
      this.#client.delete(kind, key, { propagationPolicy, preconditions })
    try {
      const result = await attempt({ uid, ...(resourceVersion !== undefined && { resourceVersion }) })
      if (!result) this.#graph.declareAbsent(node.identity)
    } catch (error) {
      if (!isConflict(error)) throw error
      // Frequent writes by other clients must not prevent the deletion while the owners are unchanged.
      const now = await this.#find(node.identity)
      if (now?.metadata.uid !== uid) return this.#graph.declareAbsent(node.identity)
      if (!deepEqual(now.metadata.ownerReferences, live.metadata.ownerReferences)) throw error
      await attempt({ uid })
    }
  }

  async #kindOf(identity: Pick<Identity, 'apiVersion' | 'kind'>) {
    return metadataOf(await this.#kinds.find(identity.apiVersion, identity.kind))
  }

  async #find(
    identity: Pick<Identity, 'apiVersion' | 'kind' | 'namespace' | 'name'>,
  ): Promise<Live | undefined> {
    const kind = await this.#kindOf(identity)
    return await this.#client.get(
      kind,
      keyOf({ ...identity, namespace: kind.namespaced ? identity.namespace : '' }),
    )
  }
}

/** A cluster-scoped object names a namespaced owner, which never becomes valid. */
class InvalidOwner extends Error {}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  return namespace === '' ? { name } : { namespace, name }
}

function isWaiting(metadata: ObjectMeta): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(foregroundFinalizer)
}

/** The deletion propagation that the object's own finalizers request. */
function policyOf(finalizers: readonly string[]): 'Orphan' | 'Foreground' | 'Background' {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan'
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background'
}
