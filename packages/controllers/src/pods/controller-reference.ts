import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject, DeepReadonly, OwnerReference } from '@coxswain/apimachinery/meta'
import { apiVersionOf } from '../resource-kinds.ts'

/** The reference with which a controller marks what it made. */
export function controllerReference(kind: Kind, owner: DeepReadonly<ApiObject>): OwnerReference {
  const { name, uid } = owner.metadata
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  }
}

/** Who controls an object. */
export function controllerOf({
  metadata,
}: DeepReadonly<ApiObject>): DeepReadonly<OwnerReference> | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller)
}
