import type { Client } from '@coxswain/client'
import type { InformerFactory } from '@coxswain/informers'
import type { Env, Span, TaskGroup } from '@coxswain/kit'
import { Cache } from '../cache.ts'
import type { Clusters } from '../clusters.ts'
import { Controller } from '../controller.ts'
import type { ControllerDefinition } from '../controller-builder.ts'
import { createControllerMetrics } from '../metrics/controller-metrics.ts'
import type { MetricsRegistry } from '../metrics/registry.ts'
import type { OperatorDefinition } from '../operator.ts'
import type { OperatorClient, WriteGuard } from '../operator-client.ts'
import type { ReconcileRecord } from '../reconcile-record.ts'
import { createCachedClient } from './cached-client.ts'
import type { EventBroadcaster } from './event-broadcaster.ts'

/** What the operators of one manager share. */
export interface OperatorHost {
  readonly client: Client
  readonly env: Env
  readonly informers: InformerFactory
  readonly clusters: Clusters
  readonly broadcaster: EventBroadcaster
  readonly metrics: MetricsRegistry
  /** For whatever only the leader does. */
  readonly guard: WriteGuard | undefined
  readonly namespaces: readonly string[] | undefined
  readonly freeze: boolean
  /** By controller name, instead of their own. */
  readonly concurrency: Readonly<Record<string, number>>
  readonly errorEvents: boolean
  readonly onReconcile: ((record: ReconcileRecord) => void) | undefined
}

export interface SpawnOptions {
  /** What only the leader runs, or what every replica runs. */
  readonly needsLeader: boolean
  /** Aborts reconciles in progress. */
  readonly hard: AbortSignal
}

/** One operator of a manager: its own view of the shared informers, its controllers and its tasks. */
export class HostedOperator {
  readonly definition: OperatorDefinition
  readonly cache: Cache
  readonly controllers: readonly Controller[]
  readonly #host: OperatorHost

  constructor(definition: OperatorDefinition, host: OperatorHost) {
    const { name } = definition
    const env = { ...host.env, log: host.env.log.child({ operator: name }) }
    this.definition = definition
    this.#host = { ...host, env }
    this.cache = new Cache({
      client: host.client,
      env,
      informers: host.informers,
      owner: name,
      kinds: definition.caches,
      defaults: definition.cacheDefaults,
      ...(host.freeze && { freeze: true }),
      ...(host.namespaces && { namespaces: host.namespaces }),
    })
    for (const { kind, field, valuesOf } of definition.indexes) this.cache.addIndex(kind, field, valuesOf)
    this.controllers = definition.controllers.map(controller => this.#createController(controller))
  }

  /** Starts its controllers and tasks. */
  spawn(group: TaskGroup, { needsLeader, hard }: SpawnOptions): void {
    for (const controller of this.controllers) {
      if ((controller.definition.options.needsLeader ?? true) !== needsLeader) continue
      group.spawn(stop => controller.run(stop, hard))
    }
    for (const { name, task, needsLeader: leaderOnly } of this.definition.tasks) {
      if (leaderOnly !== needsLeader) continue
      group.spawn(signal => {
        const { env, metrics, broadcaster } = this.#host
        const events = broadcaster.recorderFor({ component: this.definition.name })
        const client = this.clientFor(signal, { guard: this.#guardFor(needsLeader) })
        return task({
          client,
          env: { ...env, log: env.log.child({ task: name }) },
          signal,
          events,
          metrics,
        })
      })
    }
  }

  /** A client whose reads come from this operator's cache and whose calls end with `signal`. */
  clientFor(
    signal: AbortSignal,
    { guard, span }: { readonly guard?: WriteGuard | undefined; readonly span?: Span | undefined } = {},
  ): OperatorClient {
    const { client, env } = this.#host
    const { clock } = env
    const bounds = { signal, ...(guard && { guard }), ...(span && { span }) }
    return createCachedClient({ client, cache: this.cache, clock, ...bounds })
  }

  #createController(described: ControllerDefinition): Controller {
    const { client, clusters, env, broadcaster, metrics, concurrency, errorEvents, onReconcile } = this.#host
    const wanted = concurrency[described.name]
    const options = { ...described.options, ...(wanted !== undefined && { concurrency: wanted }) }
    const guard = this.#guardFor(options.needsLeader)
    return new Controller(
      { ...described, options },
      {
        client,
        cache: this.cache,
        clusters,
        env,
        events: broadcaster.recorderFor({ component: options.eventSource ?? this.definition.name }),
        metrics: createControllerMetrics(metrics, described.name),
        registry: metrics,
        errorEvents: options.errorEvents ?? errorEvents,
        ...(guard && { guard }),
        ...(onReconcile && { onReconcile }),
      },
    )
  }

  #guardFor(needsLeader = true): WriteGuard | undefined {
    return needsLeader ? this.#host.guard : undefined
  }
}
