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
  applyStrategicMergePatch,
  type Condition,
  type CreateOf,
  type DeepReadonly,
  defineKind,
  field,
  findStatusCondition,
  formatTime,
  isAlreadyExists,
  isConflict,
  isControlledBy,
  isNotFound,
  type KindOf,
  newControllerReference,
  newInternalError,
  type ObjectKey,
  parseTime,
  StatusError,
  s,
  setControllerReference,
  setStatusCondition,
  toCustomResourceDefinition,
} from '@coxswain/apimachinery'
export { type Client, createClient, retryOnConflict, waitFor } from '@coxswain/client'
export {
  type AdmissionContext,
  createChannel,
  defineOperator,
  generationChanged,
  type Incoming,
  type Operator,
  type OperatorClient,
  type ReconcileContext,
  type Result,
  requeueAfter,
  runOperator,
  slowStart,
  TerminalError,
} from '@coxswain/runtime'
