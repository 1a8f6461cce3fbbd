import type { OwnerReference } from '@coxswain/apimachinery'

/** What it takes to find an object again. */
export interface Identity {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for cluster-scoped objects, and for owners of which only a reference is known. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** An object as the informers see it. */
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
  /** Known only because somebody names it as owner: it may not exist. */
  isVirtual: boolean
  isBeingDeleted: boolean
  /** It waits, by its foreground finalizer, until its dependents are gone. */
  isDeletingDependents: boolean
}

/** What a change asks the workers to look at. */
export interface GraphQueue {
  /** Whether this object should go. */
  attemptToDelete(uid: string): void
  /** Whose dependents are to be let go. */
  attemptToOrphan(uid: string): void
}

/** Who owns whom. Pure bookkeeping: what follows from a change is handed to the queue. */
export class Graph {
  readonly #nodes = new Map<string, GraphNode>()
  readonly #queue: GraphQueue

  constructor(queue: GraphQueue) {
    this.#queue = queue
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
      if (!isSameObject(node.identity, identity)) this.#recheckDependents(node)
      node.identity = identity
    }
    this.#setOwners(node, owners)
    const wasBeingDeleted = !isNew && node.isBeingDeleted
    if (isBeingDeleted) node.isBeingDeleted = true
    if (isBeingDeleted && finalizers.includes(orphanFinalizer)) this.#queue.attemptToOrphan(identity.uid)
    if (
      isBeingDeleted &&
      finalizers.includes(foregroundFinalizer) &&
      (!node.isDeletingDependents || !wasBeingDeleted)
    ) {
      node.isDeletingDependents = true
      for (const dependent of node.dependents) this.#queue.attemptToDelete(dependent.identity.uid)
      this.#queue.attemptToDelete(identity.uid)
    }
    if (isNew && owners.length > 0) this.#queue.attemptToDelete(identity.uid)
  }

  /** An object is gone. */
  forget(uid: string): void {
    const node = this.#nodes.get(uid)
    if (!node) return
    this.#nodes.delete(uid)
    for (const { uid: ownerUid } of node.owners) this.#unlink(ownerUid, node)
    for (const dependent of node.dependents) this.#queue.attemptToDelete(dependent.identity.uid)
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
    let node = this.#nodes.get(uid)
    if (!node) {
      const { apiVersion, kind, name } = owner
      node = createNode({ apiVersion, kind, name, uid, namespace: dependent.identity.namespace }, true)
      this.#nodes.set(uid, node)
      this.#queue.attemptToDelete(uid)
    }
    node.dependents.add(dependent)
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

  #recheckDependents(node: GraphNode): void {
    for (const dependent of node.dependents) this.#queue.attemptToDelete(dependent.identity.uid)
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
  }
}

function isSameObject(a: Identity, b: Identity): boolean {
  return a.kind === b.kind && a.name === b.name && a.namespace === b.namespace
}
