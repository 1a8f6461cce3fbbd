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
export { bootstrapApiServices } from './apiregistration/bootstrap.ts'
export { readPem } from './certificates/pem.ts'
export { readCertificateRequest } from './certificates/x509.ts'
export { validateNamespaceFinalizers } from './core/namespace.ts'
export { isPodReady, setPodCondition } from './core/pod/condition.ts'
export { qosClassOf } from './core/pod/qos.ts'
export {
  aggregate,
  isExtendedResource,
  isHugePages,
  isNativeResource,
} from './core/pod/validation/resources.ts'
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
export { isDefaultStorageClass } from './storage/storage-class.ts'
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
