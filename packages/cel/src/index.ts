/**
 * The Common Expression Language as Kubernetes 1.36 uses it.
 *
 *   source -> parse (macros) -> Checker (types, overloads) -> Compiler (closures) -> Program.evaluate
 *
 * @module
 */
export {
  type Compilation,
  type CompileOptions,
  compileExpression,
  type Evaluation,
  type Program,
  type VariableDeclaration,
} from './compile-expression.ts'
export { createEnvironment, type Environment, type EnvironmentOptions } from './environment.ts'
export { type Library, type Overload, overload } from './functions.ts'
export { formatIssues, type Issue } from './issues.ts'
export { kubernetesEnvironment } from './kubernetes-environment.ts'
export { costLimits } from './limits.ts'
export { type CelType, formatType } from './types.ts'
export type { Value } from './values.ts'
