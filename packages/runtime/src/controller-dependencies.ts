import type { Client } from '@coxswain/client'
import type { Env } from '@coxswain/kit'
import type { Cache } from './cache.ts'
import type { Clusters } from './clusters.ts'
import type { EventRecorder } from './event-recorder.ts'
import type { ControllerMetrics } from './metrics/controller-metrics.ts'
import type { MetricsRegistry } from './metrics/registry.ts'
import type { WriteGuard } from './operator-client.ts'
import type { ReconcileRecord } from './reconcile-record.ts'

export interface ControllerDependencies {
  readonly client: Client
  readonly cache: Cache
  readonly clusters: Clusters
  readonly env: Env
  readonly events: EventRecorder
  readonly metrics: ControllerMetrics
  readonly registry: MetricsRegistry
  readonly guard?: WriteGuard
  /** Whether a reconcile that keeps failing records an event on its object. */
  readonly errorEvents: boolean
  readonly onReconcile?: (record: ReconcileRecord) => void
}
