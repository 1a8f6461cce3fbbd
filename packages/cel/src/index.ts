/**
 * The Common Expression Language as Kubernetes 1.36 uses it.
 *
 *   source -> parse (macros) -> Checker (types, overloads) -> validate (literals) -> estimateCost
 *                                                          -> Compiler (closures) -> Program.evaluate
 *
 * @module
 */
export {
  type Compilation,
  type CompileOptions,
  compileExpression,
  dynVariable,
  type Evaluation,
  optionalVariable,
  type Program,
  schemaVariable,
  typedVariable,
  type VariableDeclaration,
} from './compile-expression.ts'
export { deviceEnvironment, deviceVariable, type SelectableDevice } from './device-variable.ts'
export { createEnvironment, type Environment, type EnvironmentOptions } from './environment.ts'
export { escapeName } from './escape.ts'
export type { Estimate } from './estimate.ts'
export { type Library, type Overload, overload } from './functions.ts'
export { formatIssues, type Issue } from './issues.ts'
export { bindingsLibrary, kubernetesEnvironment, kubernetesLibraries } from './kubernetes-environment.ts'
export {
  type AuthorizationCheck,
  type AuthorizationDecision,
  type Authorize,
  authorizerType,
  authorizerValue,
  requestResourceType,
  requestResourceValue,
} from './libraries/authorizer.ts'
export { encodersLibrary } from './libraries/encoders.ts'
export { jsonPatchLibrary } from './libraries/json-patch.ts'
export { mathLibrary } from './libraries/math.ts'
export { costLimits } from './limits.ts'
export { type SchemaType, schemaType } from './schema-type.ts'
export { jsonValue } from './schema-values.ts'
export {
  mutationTypes,
  type StructType,
  type StructTypes,
  StructValue,
  typeNameErrors,
} from './struct-types.ts'
export { toJson } from './to-json.ts'
export {
  boolType,
  type CelType,
  dynType,
  formatType,
  intType,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  stringType,
} from './types.ts'
export { fault, type MapValue, type OpaqueValue, type Value } from './values.ts'
