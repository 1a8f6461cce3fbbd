import type { OwnerReference } from '@coxswain/apimachinery/meta'
import { type AbsentOwners, type Identity, matches, partition, replacementFor } from './identity.ts'

/** An object as an informer observed it. */
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
  /** Known only from owner references: it may not exist, or not be what they say. */
  isVirtual: boolean
  isBeingDeleted: boolean
  /** It waits, because of its foreground finalizer, until its dependents are deleted. Stays set even if that finalizer is removed. */
  isDeletingDependents: boolean
  /** Whether that finalizer was present when it was last observed. */
  hasForegroundFinalizer: boolean
}

/** The work that follows from changes of the graph. */
export interface GraphQueue {
  /** Checks whether this object should be deleted. */
  attemptToDelete(uid: string): void
  /** Orphans the dependents of this object. */
  attemptToOrphan(uid: string): void
  /** `dependent` names an owner in another namespace. */
  reportInvalidNamespace(dependent: GraphNode, owner: OwnerReference): void
}

/**
 * The graph of owners and dependents. Pure bookkeeping: the work that follows from a change is added to the queue.
 *
 * Nodes are found by uid, but a reference also has a kind, a name and, implicitly, a namespace. A reference whose uid belongs to
 * another object owns nothing, and must not affect correct references to that uid.
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

  /** Records an object that an informer added or updated. */
  observe(observed: Observed): void {
    const { owners, finalizers, isBeingDeleted, ...identity } = observed
    let node = this.#nodes.get(identity.uid)
    const isNew = !node || node.isVirtual
    if (!node) {
      node = createNode(identity, { isVirtual: false })
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

  /** Records that an informer observed a deletion. */
  forget(uid: string): void {
    const node = this.#nodes.get(uid)
    if (node) this.#remove(node)
  }

  /**
   * Records that the server does not have the object. `identity` is what was requested, without a namespace if the kind is
   * cluster-scoped. A node that is only known from references may still be what another of them says: it is then assumed to be
   * that.
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

  /** Checks whether references to an object that was just observed agree with it. */
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
    const node = createNode({ apiVersion, kind, name, uid, namespace }, { isVirtual: true })
    this.#nodes.set(uid, node)
    node.dependents.add(dependent)
    this.#queue.attemptToDelete(uid)
  }

  /** A new reference to an observed object has to agree with it. */
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

function createNode(identity: Identity, { isVirtual }: Pick<GraphNode, 'isVirtual'>): GraphNode {
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
