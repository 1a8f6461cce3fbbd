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
export * as field from '@coxswain/apimachinery/field'
export {
  type ApplyOf,
  type CreateOf,
  defineKind,
  type KindOf,
  s,
  toCustomResourceDefinition,
} from '@coxswain/apimachinery/kinds'
export {
  type Condition,
  type DeepReadonly,
  findStatusCondition,
  isControlledBy,
  newControllerReference,
  type ObjectKey,
  setControllerReference,
  setStatusCondition,
} from '@coxswain/apimachinery/meta'
export { applyStrategicMergePatch } from '@coxswain/apimachinery/patch'
export {
  isAlreadyExists,
  isConflict,
  isNotFound,
  newInternalError,
  StatusError,
} from '@coxswain/apimachinery/status'
export { formatTime, parseTime } from '@coxswain/apimachinery/time'
export { defineConfig, type RunConfig } from '@coxswain/cli/config'
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
