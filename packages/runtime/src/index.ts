/**
 * Operators: their definition, and the manager that runs them.
 *
 *   defineOperator -> describeOperator -> Manager -> Cache + Controllers -> your reconcile
 *
 * @module
 */
export {
  Cache,
  type CacheDefaults,
  type CachedListOptions,
  type CacheOptions,
  type CacheScope,
  type KindCacheOptions,
} from './cache.ts'
export type { OtherCluster } from './clusters.ts'
export type {
  ClusterChoice,
  ControllerBuilder,
  ControllerDefinition,
  ControllerOptions,
  FinalizerDefinition,
  WatchOptions,
} from './controller-builder.ts'
export type {
  DefineDependent,
  Dependent,
  DependentContext,
  DependentOptions,
  DependentPhase,
  DependentState,
  DependentsOptions,
  DependentsResult,
  Desired,
} from './dependents/dependent.ts'
export { createHealthHandler } from './endpoints/health-handler.ts'
export { createMetricsHandler } from './endpoints/metrics-handler.ts'
export { RecentReconciles } from './endpoints/recent-reconciles.ts'
export { type AccessOptions, requireAccess } from './endpoints/require-access.ts'
export { isRuntimeError, RuntimeError, type RuntimeErrorCode, TerminalError } from './errors.ts'
export type { EventRecorder, EventSource, EventSubject } from './event-recorder.ts'
export { Expectations, slowStart } from './expectations.ts'
export { addFinalizer, addFinalizers, hasFinalizer, removeFinalizer } from './finalizer.ts'
export { formatHealth, type HealthReport } from './health.ts'
export {
  findKindsToInstall,
  type InstalledKind,
  type InstallOptions,
  installKinds,
  type KindsToInstall,
} from './install-kinds.ts'
export {
  type LeaderElectionOptions,
  LeaderElector,
  type LeaderElectorOptions,
  type Leadership,
} from './leader-election.ts'
export { listerWatcherOf } from './lister-watcher-of.ts'
export { Manager, type ManagerOptions, type RunOptions, runOperator } from './manager.ts'
export { createClientMetrics } from './metrics/client-metrics.ts'
export {
  type Counter,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type MetricOptions,
  MetricsRegistry,
} from './metrics/registry.ts'
export {
  type CacheOptionsOf,
  defineOperator,
  describeOperator,
  type HealthCheck,
  type Operator,
  type OperatorBuilder,
  type OperatorDefinition,
  type Task,
  type TaskContext,
  type TaskOptions,
} from './operator.ts'
export type {
  ApiCall,
  OperatorClient,
  OperatorListOptions,
  ReadOptions,
  WriteGuard,
} from './operator-client.ts'
export {
  and,
  annotationsChanged,
  generationChanged,
  hasLabels,
  labelsChanged,
  not,
  type ObjectEvent,
  or,
  type Predicate,
  resourceVersionChanged,
} from './predicates.ts'
export type { RbacOptions, RbacRule, RbacTarget, RbacVerb } from './rbac.ts'
export {
  type ReconcileContext,
  type ReconcileResult,
  type Reconciler,
  type Result,
  requeueAfter,
} from './reconcile.ts'
export type { ReconcileRecord } from './reconcile-record.ts'
export {
  compareCalls,
  coversCall,
  describeCall,
  type RecordedCall,
  readRecordedCalls,
} from './recorded-call.ts'
export {
  type Channel,
  type CustomSource,
  createChannel,
  type EventHandlers,
  type KindSource,
  type Lookup,
  type MapFunction,
  type OwnsOptions,
  ownersOf,
  type SourceContext,
  type TimerSource,
} from './source.ts'
export type { Trigger, TriggerType } from './trigger.ts'
export type {
  AdmissionContext,
  AdmissionOperation,
  AdmissionOptions,
  AdmissionSubject,
  AdmissionUser,
  Defaulter,
  Incoming,
  Validator,
  Verdict,
} from './webhook/admission.ts'
export {
  type CertificateMaker,
  type CertificateMaterial,
  CertificateRotation,
  type CertificateRotationOptions,
  type Validity,
  type WebhookCertificates,
  type WebhookKeyPair,
} from './webhook/certificates.ts'
export {
  type ConfigurationInput,
  type ConfigurationReference,
  conversionsOf,
  hostsOf,
  mutatingWebhooks,
  validatingWebhooks,
  type WebhookAddress,
} from './webhook/configurations.ts'
export type { InstalledConversion } from './webhook/injector.ts'
export { removeConfigurations } from './webhook/remove-configurations.ts'
export type { Replica } from './webhook/replica.ts'
export type { WebhookBuilder, WebhookDefinition } from './webhook/webhook-builder.ts'
export { admissionPath, createWebhookHandler, type WebhookHandlerOptions } from './webhook/webhook-handler.ts'
export type { ServingWebhooks, WebhookListener, WebhookOptions } from './webhook/webhook-host.ts'
