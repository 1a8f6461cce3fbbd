import type { Kind } from '@coxswain/apimachinery/kinds'
import { type ApiObject, type DeepReadonly, getControllerOf } from '@coxswain/apimachinery/meta'
import type { Selector } from '@coxswain/apimachinery/selectors'
import { isInvalid, isNotFound } from '@coxswain/apimachinery/status'
import { controllerReference } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'

export interface Claim<K extends Kind> {
  readonly client: OperatorClient
  /** Of what is claimed. */
  readonly kind: K
  readonly ownerKind: Kind
  readonly owner: DeepReadonly<ApiObject>
  readonly selector: Selector
  /** What the selector cannot say: whether an object can be the owner's at all. @default any can */
  readonly accepts?: (object: DeepReadonly<ApiObject>) => boolean
  /** What those that are adopted get, and those that are released lose. */
  readonly finalizers?: readonly string[]
}

/**
 * Sorts out which of `objects` are the owner's: what it controls and selects is; what it controls but no longer selects is
 * released; what nobody controls and it selects is adopted. An owner that is being deleted adopts and releases nothing.
 */
export async function claimObjects<K extends Kind, T extends DeepReadonly<ApiObject>>(
  claim: Claim<K>,
  objects: readonly T[],
): Promise<T[]> {
  const { owner, selector, accepts = () => true } = claim
  const isGoing = owner.metadata.deletionTimestamp !== undefined
  let mayAdopt: boolean | undefined
  const mine: T[] = []
  for (const object of objects) {
    const isSelected = selector.matches(object.metadata.labels) && accepts(object)
    const controller = getControllerOf(object)
    if (controller) {
      if (controller.uid !== owner.metadata.uid) continue
      if (isSelected) mine.push(object)
      else if (!isGoing) await release(claim, object)
    } else if (isSelected && !isGoing && !object.metadata.deletionTimestamp) {
      mayAdopt ??= await isStillThere(claim)
      const adopted = mayAdopt && (await adopt(claim, object))
      if (adopted) mine.push(adopted)
    }
  }
  return mine
}

/** Asks the server: a cache may not know yet that the owner goes, or that another has its name. */
async function isStillThere<K extends Kind>({ client, ownerKind, owner }: Claim<K>): Promise<boolean> {
  const { namespace = '', name, uid } = owner.metadata
  const fresh = await client.get(ownerKind, { namespace, name }, { cached: false })
  const metadata = (fresh as DeepReadonly<ApiObject> | undefined)?.metadata
  return metadata?.uid === uid && metadata.deletionTimestamp === undefined
}

const keyOf = ({ metadata }: DeepReadonly<ApiObject>) => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
})

/** Resolves with the object as it is then. */
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
    if (isNotFound(error) || isInvalid(error)) return undefined // it is gone, or somebody else's by now
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
