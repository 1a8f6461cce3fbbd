/** Owner references: what garbage collection and `owns()` follow. */
import { MachineryError } from '../errors.ts'
import { parseGroupVersion } from './gvk.ts'
import type { ObjectMeta, OwnerReference } from './meta.ts'

/** A potential owner: it has been stored, so it has a uid. */
export interface Owner {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly uid?: string }
}

export interface Owned {
  metadata: ObjectMeta
}

type ReadOwned = { readonly metadata: { readonly ownerReferences?: readonly OwnerReference[] } }

export interface OwnerReferenceOptions {
  /**
   * Whether a foreground deletion of the owner waits for this object.
   * @default true for a controller reference, otherwise absent
   */
  readonly blockOwnerDeletion?: boolean
}

/**
 * Makes `owner` the controller of `object`: garbage collection deletes the object with its owner, and
 * `owns()` triggers the owner's controller when the object changes.
 * @throws MachineryError `OwnerScope` when the owner may not own it, `AlreadyOwned` when it has another controller
 */
export function setControllerReference(
  owner: Owner,
  object: Owned,
  options: OwnerReferenceOptions = {},
): void {
  checkScopes(owner, object)
  const reference = newControllerReference(owner, options)
  const existing = getControllerOf(object)
  if (existing && !isSameOwner(existing, reference)) {
    const { namespace = '', name = '' } = object.metadata
    const message = `Object ${namespace}/${name} is already owned by another ${existing.kind} controller ${existing.name}`
    throw new MachineryError('AlreadyOwned', message)
  }
  upsert(object, reference)
}

/**
 * Makes `owner` an owner of `object`, but not its controller.
 * @throws MachineryError `OwnerScope`
 */
export function setOwnerReference(owner: Owner, object: Owned, options: OwnerReferenceOptions = {}): void {
  checkScopes(owner, object)
  upsert(object, { ...newOwnerReference(owner), ...options })
}

/** Returns whether there was one. */
export function removeOwnerReference(owner: Owner, object: Owned): boolean {
  const reference = newOwnerReference(owner)
  const references = object.metadata.ownerReferences ?? []
  const kept = references.filter(candidate => !isSameOwner(candidate, reference))
  if (kept.length === references.length) return false
  if (kept.length > 0) object.metadata.ownerReferences = kept
  else delete object.metadata.ownerReferences
  return true
}

/** Whether `owner` is among the owner references of `object`. */
export function hasOwnerReference(owner: Owner, object: ReadOwned): boolean {
  const reference = newOwnerReference(owner)
  return (object.metadata.ownerReferences ?? []).some(candidate => isSameOwner(candidate, reference))
}

/** The owner reference that is marked as controller. */
export function getControllerOf(object: ReadOwned): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(reference => reference.controller === true)
}

/** Whether `owner` itself, not an earlier object of the same name, is the controller. */
export function isControlledBy(object: ReadOwned, owner: Owner): boolean {
  const { uid } = owner.metadata
  return uid !== undefined && getControllerOf(object)?.uid === uid
}

/** A new owner reference to `owner` that is marked as controller. */
export function newControllerReference(owner: Owner, options: OwnerReferenceOptions = {}): OwnerReference {
  const { blockOwnerDeletion = true } = options
  return { ...newOwnerReference(owner), controller: true, blockOwnerDeletion }
}

/** @throws MachineryError `OwnerScope` when the owner has no kind or was never stored */
function newOwnerReference({ apiVersion = '', kind = '', metadata }: Owner): OwnerReference {
  const { name = '', uid = '' } = metadata
  const missing = Object.entries({ apiVersion, kind, name, uid }).filter(([, value]) => value === '')
  if (missing.length > 0) {
    const fields = missing.map(([field]) => field).join(', ')
    throw new MachineryError('OwnerScope', `an owner must have been stored and say what it is: no ${fields}`)
  }
  return { apiVersion, kind, name, uid }
}

function checkScopes(owner: Owner, object: Owned): void {
  const ownerNamespace = owner.metadata.namespace ?? ''
  const namespace = object.metadata.namespace ?? ''
  if (ownerNamespace === '' || ownerNamespace === namespace) return
  const message =
    namespace === ''
      ? `cluster-scoped resource must not have a namespace-scoped owner, owner's namespace ${ownerNamespace}`
      : `cross-namespace owner references are disallowed, owner's namespace ${ownerNamespace}, obj's namespace ${namespace}`
  throw new MachineryError('OwnerScope', message)
}

function upsert(object: Owned, reference: OwnerReference): void {
  const references = object.metadata.ownerReferences ?? []
  const index = references.findIndex(candidate => isSameOwner(candidate, reference))
  if (index < 0) object.metadata.ownerReferences = [...references, reference]
  else object.metadata.ownerReferences = references.with(index, reference)
}

// An owner's version may change, and its uid when it is recreated.
function isSameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return a.kind === b.kind && a.name === b.name && groupOf(a) === groupOf(b)
}

function groupOf({ apiVersion }: OwnerReference): string {
  return parseGroupVersion(apiVersion).group
}
