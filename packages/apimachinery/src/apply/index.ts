/** Server-side apply: who manages which field, and what a set of fields is. */
export { createFieldManager, type FieldManager } from './field-manager.ts'
export { decodeFieldSet, difference, encodeFieldSet, hasPath, isEmptySet, setAt } from './field-set.ts'
export { mergeConfiguration } from './merge-configuration.ts'
export type { ResetFields } from './reset-fields.ts'
