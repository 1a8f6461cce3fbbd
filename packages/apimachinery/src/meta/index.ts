/** What all objects share: metadata, names, owners, conditions. */
export {
  type ConditionLike,
  findStatusCondition,
  isSameCondition,
  isStatusConditionFalse,
  isStatusConditionPresentAndEqual,
  isStatusConditionTrue,
  keepTransitionTime,
  removeStatusCondition,
  setCondition,
  setStatusCondition,
} from './conditions.ts'
export {
  formatGroupVersion,
  type GroupResource,
  type GroupVersionKind,
  type GroupVersionResource,
  parseGroupVersion,
} from './gvk.ts'
export { formatKey, keyOf, parseKey } from './keys.ts'
export type { LabelSelector, LabelSelectorRequirement } from './label-selector.ts'
export type {
  ApiList,
  ApiObject,
  Condition,
  DeepReadonly,
  ListMeta,
  ManagedFieldsEntry,
  ObjectKey,
  ObjectMeta,
  OwnerReference,
} from './meta.ts'
export {
  getControllerOf,
  hasOwnerReference,
  isControlledBy,
  newControllerReference,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './owner-references.ts'
export { comparePreferredVersions } from './version.ts'
