/**
 * Kubernetes-native programming in TypeScript: what an operator's author imports.
 *
 *   defineKind + s             an API type: TypeScript type, CRD, validation and defaults in one value
 *   defineOperator             a program for a cluster; importing it starts nothing
 *   coxswain up | run          what starts it
 *
 * Built-in kinds are in `@coxswain/api`: `import { Pod } from '@coxswain/api/core/v1'`.
 * @module
 */
export {
  type ApplyOf,
  type CreateOf,
  defineKind,
  isConflict,
  isNotFound,
  type KindOf,
  newControllerReference,
  type ObjectKey,
  StatusError,
  s,
  setControllerReference,
} from '@coxswain/apimachinery'
export { type Client, createClient, retryOnConflict } from '@coxswain/client'
export {
  defineOperator,
  type Operator,
  type ReconcileContext,
  type Result,
  requeueAfter,
  runOperator,
  TerminalError,
} from '@coxswain/runtime'
