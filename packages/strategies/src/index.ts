/**
 * The rules of each built-in kind. Folder = API group, file = kind; `strategyFor` finds them.
 *
 * @module
 */
export {
  type CompiledExpression,
  compileAdmissionExpression,
  type ExpressionOptions,
  PolicyVariables,
} from './admissionregistration/expressions/compile.ts'
export { defaultClientConfig, validateClientConfig } from './admissionregistration/webhook-client.ts'
export {
  automanagedLabel,
  bootstrapApiServices,
  customApiService,
  localPriorities,
  type Priorities,
} from './apiregistration/bootstrap.ts'
export type { SignedMessage, VerifySignature } from './certificates/signature.ts'
export { readCertificateRequest } from './certificates/x509.ts'
export { validateNamespaceFinalizers } from './core/namespace.ts'
export type { Decoded } from './decoded.ts'
export { bootstrapFlowControl } from './flowcontrol/bootstrap.ts'
export { defaultClassAnnotation } from './networking/ingress-class.ts'
export { findUncovered } from './rbac/covers.ts'
export {
  allowsPath,
  allowsResource,
  type CompiledRule,
  compileRule,
  type PolicyRule,
  readRules,
} from './rbac/rule.ts'
export { systemPriorityClasses } from './scheduling/priority-class.ts'
export { byName, listOf, numberOf, objectOf, recordOf, stringsOf, textOf } from './shared/reading.ts'
export type {
  CachedObject,
  Claim,
  ClaimOperation,
  ConvertAll,
  GracePeriod,
  GrantReader,
  ObjectReader,
  RoleAccess,
  Strategy,
  StrategyContext,
  SubresourceStrategy,
  TableCells,
  UserInfo,
} from './strategy.ts'
export { strategyFor } from './strategy-for.ts'
