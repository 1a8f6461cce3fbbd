/**
 * What the files of `coxswain types` import: the form of a kind, and nothing that runs.
 * @module
 */
export {
  type Apply,
  type CustomResourceKind,
  customResource,
  type Kind,
  type ListMap,
} from '@coxswain/apimachinery/kinds'
export type { ApiObject, ObjectMeta } from '@coxswain/apimachinery/meta'
