import type { Kind } from '@coxswain/apimachinery/kinds'
import { formatGroupVersion, newControllerReference, type OwnerReference } from '@coxswain/apimachinery/meta'

/** The reference by which objects that a controller creates for `owner` belong to it. */
export function controllerReference(
  kind: Pick<Kind, 'group' | 'version' | 'kind'>,
  { metadata }: { readonly metadata: { readonly name: string; readonly uid: string } },
): OwnerReference {
  return newControllerReference({ apiVersion: formatGroupVersion(kind), kind: kind.kind, metadata })
}
