/** OpenAPI schemas of kinds: validating, defaulting, pruning, and what a CustomResourceDefinition may say. */
export { compileSchema } from './compile.ts'
export { inspectCrdSchema, validateCrdSchema } from './crd-schema.ts'
export { followFieldPath } from './field-path.ts'
export { checkPattern } from './pattern.ts'
export type { Schema, ValidationRule } from './schema.ts'
export { checkStructural } from './structural.ts'
