import type { OwnerReference } from '@coxswain/apimachinery/meta'
import { type AbsentOwners, type Identity, matches, partition, replacementFor } from './identity.ts'

/** What an informer says of an object. */
export interface Observed extends Identity {
  readonly owners: readonly OwnerReference[]
  readonly finalizers: readonly string[]
  readonly isBeingDeleted: boolean
}

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

/** An object in the graph of owners and dependents. */
export interface GraphNode {
  identity: Identity
  owners: readonly OwnerReference[]
  readonly dependents: Set<GraphNode>
  /** Known only because somebody names it as owner: it may not exist, or be something else. */
  isVirtual: boolean
  isBeingDeleted: boolean
  /** It waits, by its foreground finalizer, until its dependents are gone; so it is said even when that was taken off. */
  isDeletingDependents: boolean
  /** Whether that finalizer was there when it was seen last. */
  hasForegroundFinalizer: boolean
}

/** What a change asks of the workers. */
export interface GraphQueue {
  /** Whether this object should go. */
  attemptToDelete(uid: string): void
  /** Whose dependents are to be let go. */
  attemptToOrphan(uid: string): void
  /** `dependent` names an owner that lives in another namespace. */
  reportInvalidNamespace(dependent: GraphNode, owner: OwnerReference): void
}

/**
 * Who owns whom. Pure bookkeeping: what follows from a change is handed to the queue.
 *
 * Nodes are found by uid, but a reference also names a kind, a name and, by where it stands, a namespace. A reference
 * whose uid belongs to something else owns nothing, and must not do harm to those who name that uid rightly.
 */
export class Graph {
  readonly #nodes = new Map<string, GraphNode>()
  readonly #queue: GraphQueue
  readonly #absent: AbsentOwners

  constructor(queue: GraphQueue, absent: AbsentOwners) {
    this.#queue = queue
    this.#absent = absent
  }

  get size(): number {
    return this.#nodes.size
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid)
  }

  /** An object was seen, for the first time or again. */
  observe(observed: Observed): void {
    const { owners, finalizers, isBeingDeleted, ...identity } = observed
    let node = this.#nodes.get(identity.uid)
    const isNew = !node || node.isVirtual
    if (!node) {
      node = createNode(identity, false)
      this.#nodes.set(identity.uid, node)
    } else if (node.isVirtual) {
      node.isVirtual = false
      node.identity = identity
      this.#checkReferencesTo(node)
    }
    this.#setOwners(node, owners)
    const wasWaiting = !isNew && node.isBeingDeleted && node.hasForegroundFinalizer
    node.hasForegroundFinalizer = finalizers.includes(foregroundFinalizer)
    if (!isBeingDeleted) return
    node.isBeingDeleted = true
    if (finalizers.includes(orphanFinalizer)) this.#queue.attemptToOrphan(identity.uid)
    else if (node.hasForegroundFinalizer && !wasWaiting) {
      node.isDeletingDependents = true
      this.#recheck(node.dependents)
      this.#queue.attemptToDelete(identity.uid)
    }
  }

  /** An informer saw an object go. */
  forget(uid: string): void {
    const node = this.#nodes.get(uid)
    if (node) this.#remove(node)
  }

  /**
   * The server says that there is no such object. `identity` is what it was asked for, without a namespace when the kind
   * has none. A node that is only known by references may still be what others of them say: it is then taken for that.
   */
  declareAbsent(identity: Identity): void {
    const node = this.#nodes.get(identity.uid)
    if (!node) return
    const { matching, others } = partition(node.dependents, identity)
    const isCertain = node.isVirtual ? others.length === 0 : isSameObject(node.identity, identity)
    if (isCertain) {
      this.#remove(node)
      return
    }
    if (matching.length > 0) this.#absent.add(identity)
    this.#recheck(matching)
    if (node.isVirtual) node.identity = replacementFor(others, identity) ?? node.identity
  }

  #remove(node: GraphNode): void {
    this.#nodes.delete(node.identity.uid)
    if (node.dependents.size > 0) this.#absent.add(node.identity)
    for (const { uid } of node.owners) this.#unlink(uid, node)
    this.#recheck(node.dependents)
  }

  /** Those who name an object that has just been seen may have named it wrongly. */
  #checkReferencesTo(node: GraphNode): void {
    const { namespace, uid } = node.identity
    for (const dependent of partition(node.dependents, node.identity).others) {
      if (namespace !== '' && dependent.identity.namespace !== namespace) this.#report(dependent, uid)
      this.#queue.attemptToDelete(dependent.identity.uid)
    }
  }

  #report(dependent: GraphNode, ownerUid: string): void {
    const owner = dependent.owners.find(({ uid }) => uid === ownerUid)
    if (owner) this.#queue.reportInvalidNamespace(dependent, owner)
  }

  #setOwners(node: GraphNode, owners: readonly OwnerReference[]): void {
    const before = new Map(node.owners.map(owner => [owner.uid, owner]))
    const after = new Map(owners.map(owner => [owner.uid, owner]))
    node.owners = owners
    for (const [uid, old] of before) {
      const now = after.get(uid)
      if (!now) this.#unlink(uid, node)
      else if (old.blockOwnerDeletion && !now.blockOwnerDeletion) this.#wakeWaitingOwner(uid)
    }
    for (const [uid, owner] of after) if (!before.has(uid)) this.#link(uid, owner, node)
  }

  #link(uid: string, owner: OwnerReference, dependent: GraphNode): void {
    const found = this.#nodes.get(uid)
    if (found) {
      found.dependents.add(dependent)
      this.#checkReference(found, owner, dependent)
      return
    }
    const { apiVersion, kind, name } = owner
    const { namespace } = dependent.identity
    const node = createNode({ apiVersion, kind, name, uid, namespace }, true)
    this.#nodes.set(uid, node)
    node.dependents.add(dependent)
    this.#queue.attemptToDelete(uid)
  }

  /** A new reference to something that is known has to agree with what is known of it. */
  #checkReference(node: GraphNode, owner: OwnerReference, dependent: GraphNode): void {
    const { namespace } = node.identity
    const isElsewhere = namespace !== dependent.identity.namespace
    if (matches(owner, node.identity) && !isElsewhere) return
    if (!node.isVirtual && isElsewhere && namespace !== '') this.#report(dependent, owner.uid)
    const isFine = !node.isVirtual && namespace === '' && matches(owner, node.identity)
    if (!isFine) this.#queue.attemptToDelete(dependent.identity.uid)
  }

  #unlink(ownerUid: string, dependent: GraphNode): void {
    const owner = this.#nodes.get(ownerUid)
    if (!owner) return
    owner.dependents.delete(dependent)
    if (owner.isVirtual && owner.dependents.size === 0) this.#nodes.delete(ownerUid)
    this.#wakeWaitingOwner(ownerUid)
  }

  #wakeWaitingOwner(uid: string): void {
    if (this.#nodes.get(uid)?.isDeletingDependents) this.#queue.attemptToDelete(uid)
  }

  #recheck(dependents: Iterable<GraphNode>): void {
    for (const dependent of dependents) this.#queue.attemptToDelete(dependent.identity.uid)
  }
}

function createNode(identity: Identity, isVirtual: boolean): GraphNode {
  return {
    identity,
    owners: [],
    dependents: new Set(),
    isVirtual,
    isBeingDeleted: false,
    isDeletingDependents: false,
    hasForegroundFinalizer: false,
  }
}

function isSameObject(a: Identity, b: Identity): boolean {
  return matches(a, b) && a.namespace === b.namespace
}
