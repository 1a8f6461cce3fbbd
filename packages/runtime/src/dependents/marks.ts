/** Labels and annotations that identify the objects of dependents. */
import type { Kind } from '@coxswain/apimachinery/kinds'
import {
  type ApiObject,
  type DeepReadonly,
  formatKey,
  keyOf,
  newControllerReference,
  type ObjectKey,
  type ObjectMeta,
  parseKey,
} from '@coxswain/apimachinery/meta'
import { formatHash } from './hash.ts'

/** The uid of the owner. */
export const ownerLabel = 'coxswain.dev/owner-uid'
/** The name of the dependent. */
export const dependentLabel = 'coxswain.dev/dependent'
/** The controller and the key of the owner: `app default/web`. */
export const ownerAnnotation = 'coxswain.dev/owner'
/** The hash of what was applied last. */
export const hashAnnotation = 'coxswain.dev/applied-hash'

/** The index of a cache by owner. */
export const ownerIndex = 'coxswain.dev/owner'

/** The value of {@link ownerIndex} for the dependents of one owner. */
export function indexValue(controller: string, uid: string): string {
  return `${uid} ${controller}`
}

export function indexByOwner(object: DeepReadonly<ApiObject>): readonly string[] {
  const uid = object.metadata.labels?.[ownerLabel]
  const owner = readOwner(object)
  return uid && owner ? [indexValue(owner.controller, uid)] : []
}

/** The controller and owner in an object's annotations. */
export function readOwner(
  object: DeepReadonly<ApiObject>,
): { readonly controller: string; readonly key: ObjectKey } | undefined {
  const text = object.metadata.annotations?.[ownerAnnotation] ?? ''
  const space = text.lastIndexOf(' ')
  if (space <= 0 || text.split('/').length > 2) return undefined
  return { controller: text.slice(0, space), key: parseKey(text.slice(space + 1)) }
}

export interface Owning {
  readonly controller: string
  readonly owner: DeepReadonly<ApiObject>
  readonly dependent: string
  readonly kind: Kind
}

/** A desired object that is ready to be applied. */
export interface Marked {
  readonly key: ObjectKey
  readonly body: { readonly metadata: ObjectMeta }
  readonly hash: string
  /** Whether it has an owner reference, so that garbage collection deletes it. */
  readonly isOwned: boolean
}

/** A desired object with its namespace, marks and owner reference. The input is not changed. */
export function mark(desired: unknown, { controller, owner, dependent, kind }: Owning): Marked {
  const given = desired as { metadata?: ObjectMeta }
  const { labels, annotations, ownerReferences = [], ...metadata } = given.metadata ?? {}
  const ownerNamespace = owner.metadata.namespace
  const namespace = kind.namespaced ? (metadata.namespace ?? ownerNamespace) : undefined
  const isOwned = ownerNamespace === undefined || namespace === ownerNamespace
  const marked = {
    ...given,
    metadata: {
      ...metadata,
      ...(namespace !== undefined && { namespace }),
      labels: { ...labels, [ownerLabel]: owner.metadata.uid, [dependentLabel]: dependent },
      annotations: { ...annotations, [ownerAnnotation]: `${controller} ${formatKey(keyOf(owner))}` },
      ...((isOwned || ownerReferences.length > 0) && {
        ownerReferences: isOwned ? [...ownerReferences, newControllerReference(owner)] : ownerReferences,
      }),
    },
  }
  const hash = formatHash(marked)
  const body = {
    ...marked,
    metadata: { ...marked.metadata, annotations: { ...marked.metadata.annotations, [hashAnnotation]: hash } },
  }
  return { key: keyOf(body), body, hash, isOwned }
}
