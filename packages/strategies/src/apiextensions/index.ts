/**
 * CustomResourceDefinitions and the rules of their objects, in the words of the API server.
 *
 *   validateCrd            a definition, new or updated
 *   validateCustomObject   an object of a defined kind: schema, formats, list types, CEL rules
 *
 * @module
 */
export {
  acceptNames,
  type CrdCondition,
  isConditionTrue,
  setApproval,
  setCondition,
  setEstablished,
  setNames,
  setNonStructural,
  type TakenNames,
  takenNames,
} from './conditions.ts'
export {
  type Crd,
  type CrdNames,
  type CrdSpec,
  type CrdVersion,
  eachSchema,
  isDeeper,
  readCrd,
  versionsOf,
} from './crd.ts'
export { unrecognizedFormats } from './formats.ts'
export { checkDefaults, checkRules, type RuleCheckOptions } from './rule-checks.ts'
export { type RuleFindings, runRules } from './rule-run.ts'
export { type CompiledRule, compileRule, RuleNode, rulesOf } from './rule-tree.ts'
export { findSkippedRules, hasRules } from './rules.ts'
export { validateCustomObject } from './validate-custom-object.ts'
export { validateCrd } from './validation.ts'
