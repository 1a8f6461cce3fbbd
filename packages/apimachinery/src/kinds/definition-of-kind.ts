import {
  type CrdOptions,
  type CustomResourceDefinition,
  toCustomResourceDefinition as crdOfDefinedKind,
} from './crd.ts'
import { type CustomResourceKind, definition } from './custom-resource.ts'
import type { AnyDefinedKind } from './define-kind.ts'

/**
 * The CustomResourceDefinition of a defined kind, with sorted keys as controller-gen writes them; or that of a kind which `coxswain
 * types` wrote, as it was read but for descriptions.
 */
export function toCustomResourceDefinition(
  kind: AnyDefinedKind | CustomResourceKind,
  options: CrdOptions = {},
): CustomResourceDefinition {
  if (!(definition in kind)) return crdOfDefinedKind(kind, options)
  const crd = kind[definition]()
  return options.conversion ? { ...crd, spec: { ...crd.spec, conversion: options.conversion } } : crd
}
