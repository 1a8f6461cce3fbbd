import type { Kind } from '@coxswain/apimachinery/kinds'
import { type ApiObject, type DeepReadonly, getControllerOf } from '@coxswain/apimachinery/meta'
import type { Selector } from '@coxswain/apimachinery/selectors'
import { isInvalid, isNotFound } from '@coxswain/apimachinery/status'
import { controllerReference } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'

export interface Claim<K extends Kind> {
  readonly client: OperatorClient
  /** The kind of the claimed objects. */
  readonly kind: K
  readonly ownerKind: Kind
  readonly owner: DeepReadonly<ApiObject>
  readonly selector: Selector
  /** Restricts the selected objects further. @default accepts all */
  readonly accepts?: (object: DeepReadonly<ApiObject>) => boolean
  /** Added to adopted objects and removed from released ones. */
  readonly finalizers?: readonly string[]
}

/**
 * Finds the objects that belong to the owner: those that it controls and selects. Releases those that it controls but no longer
 * selects, and adopts orphans that it selects. An owner that is terminating adopts and releases nothing.
 */
export async function claimObjects<K extends Kind, T extends DeepReadonly<ApiObject>>(
  claim: Claim<K>,
  objects: readonly T[],
): Promise<T[]> {
  const { owner, selector, accepts = () => true } = claim
  const isTerminating = owner.metadata.deletionTimestamp !== undefined
  let mayAdopt: boolean | undefined
  const mine: T[] = []
  for (const object of objects) {
    const isSelected = selector.matches(object.metadata.labels) && accepts(object)
    const controller = getControllerOf(object)
    if (controller) {
      if (controller.uid !== owner.metadata.uid) continue
      if (isSelected) mine.push(object)
      else if (!isTerminating) await release(claim, object)
    } else if (isSelected && !isTerminating && !object.metadata.deletionTimestamp) {
      mayAdopt ??= await canAdopt(claim)
      const adopted = mayAdopt && (await adopt(claim, object))
      if (adopted) mine.push(adopted)
    }
  }
  return mine
}

/** Reads from the server: a stale cache may miss that the owner is terminating or was replaced by another of the same name. */
async function canAdopt<K extends Kind>({ client, ownerKind, owner }: Claim<K>): Promise<boolean> {
  const { namespace = '', name, uid } = owner.metadata
  const fresh = await client.get(ownerKind, { namespace, name }, { cached: false })
  const metadata = (fresh as DeepReadonly<ApiObject> | undefined)?.metadata
  return metadata?.uid === uid && metadata.deletionTimestamp === undefined
}

const keyOf = ({ metadata }: DeepReadonly<ApiObject>) => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
})

/** Resolves with the adopted object, or undefined if it was deleted or has another controller. */
async function adopt<K extends Kind, T extends DeepReadonly<ApiObject>>(
  { client, kind, ownerKind, owner, finalizers }: Claim<K>,
  object: T,
): Promise<T | undefined> {
  const patch = {
    metadata: {
      uid: object.metadata.uid,
      ownerReferences: [controllerReference(ownerKind, owner)],
      ...(finalizers && { finalizers }),
    },
  }
  try {
    return (await client.patch(kind, keyOf(object), patch, { type: 'strategic' })) as unknown as T
  } catch (error) {
    if (isNotFound(error) || isInvalid(error)) return undefined // deleted, or controlled by another owner by now
    throw error
  }
}

async function release<K extends Kind>(
  { client, kind, owner, finalizers }: Claim<K>,
  object: DeepReadonly<ApiObject>,
): Promise<void> {
  const patch = {
    metadata: {
      uid: object.metadata.uid,
      ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }],
      ...(finalizers && { '$deleteFromPrimitiveList/finalizers': finalizers }),
    },
  }
  try {
    await client.patch(kind, keyOf(object), patch, { type: 'strategic' })
  } catch (error) {
    if (!isNotFound(error) && !isInvalid(error)) throw error
  }
}
