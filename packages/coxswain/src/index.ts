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
export { parseQuantity, Quantity } from '@coxswain/apimachinery/quantity'
export {
  isAlreadyExists,
  isConflict,
  isNotFound,
  newInternalError,
  StatusError,
} from '@coxswain/apimachinery/status'
export { formatTime, parseTime } from '@coxswain/apimachinery/time'
export { defineConfig, type RunConfig } from '@coxswain/cli/config'
export {
  applyAll,
  type Client,
  conditions,
  cordon,
  createClient,
  createOrPatch,
  createOrUpdate,
  drain,
  dryRun,
  evict,
  extractApply,
  namespaced,
  readOnly,
  restart,
  retryOnConflict,
  uncordon,
  wait,
  waitFor,
  withFieldOwner,
  withStrictValidation,
} from '@coxswain/client'
export {
  type AdmissionContext,
  addFinalizer,
  and,
  annotationsChanged,
  createChannel,
  type DependentContext,
  defineOperator,
  Expectations,
  generationChanged,
  hasFinalizer,
  hasLabels,
  type Incoming,
  labelsChanged,
  not,
  type Operator,
  type OperatorBuilder,
  type OperatorClient,
  or,
  type Predicate,
  type ReconcileContext,
  type Result,
  removeFinalizer,
  requeueAfter,
  resourceVersionChanged,
  runOperator,
  slowStart,
  TerminalError,
} from '@coxswain/runtime'
export { defineKind } from './define-kind.ts'
