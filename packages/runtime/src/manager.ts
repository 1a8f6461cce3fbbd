import { type Client, createClient, waitFor } from '@coxswain/client'
import { aborted, createAbortError, createRealEnv, type Env, TaskGroup } from '@coxswain/kit'
import type { Handler, Transport } from '@coxswain/wire'
import { Cache } from './cache.ts'
import { Clusters, type OtherCluster } from './clusters.ts'
import { Controller } from './controller.ts'
import { RuntimeError } from './errors.ts'
import type { EventSubject } from './event-recorder.ts'
import { type HealthReport, runChecks } from './health.ts'
import { type InstalledKind, type InstallOptions, installDefinitions } from './install-kinds.ts'
import { createCachedClient } from './internal/cached-client.ts'
import { EventBroadcaster } from './internal/event-broadcaster.ts'
import { waitForCaches } from './internal/wait-for-caches.ts'
import { type LeaderElectionOptions, LeaderElector } from './leader-election.ts'
import { createClientMetrics } from './metrics/client-metrics.ts'
import { createControllerMetrics } from './metrics/controller-metrics.ts'
import { MetricsRegistry } from './metrics/registry.ts'
import { describeOperator, type Operator, type OperatorDefinition } from './operator.ts'
import type { WriteGuard } from './operator-client.ts'
import type { ReconcileRecord } from './reconcile-record.ts'
import { type Definition, definitionKind } from './webhook/kinds.ts'
import { createWebhookHandler } from './webhook/webhook-handler.ts'
import { WebhookHost, type WebhookOptions } from './webhook/webhook-host.ts'

export interface ManagerOptions {
  /** How to reach the server: a client, or a transport to make one for. */
  readonly client?: Client
  readonly transport?: Transport
  /** @default the real world, silent */
  readonly env?: Env
  /** The machine it runs on: events that name an action say so. @default they do not */
  readonly hostname?: string
  /** Namespaced kinds are seen in these namespaces only. @default all */
  readonly namespaces?: readonly string[]
  /** Other clusters that controllers watch and write, by the names they call them. */
  readonly clusters?: Readonly<Record<string, OtherCluster>>
  /** Of several replicas only one works. @default off */
  readonly leaderElection?: LeaderElectionOptions
  /**
   * Applies the definitions of its kinds before anything else starts, those with conversions once their webhook answers.
   * See `installKinds`. @default they are there, or come later
   */
  readonly install?: { readonly onInstalled?: (installed: InstalledKind) => void }
  /** How API servers reach the operator's webhooks. @default they do not */
  readonly webhooks?: WebhookOptions
  /** Where metrics go. @default a registry of its own */
  readonly metrics?: MetricsRegistry
  /** Milliseconds reconciles may take to finish when the operator has to stop. @default 30000 */
  readonly gracefulShutdown?: number
  /** Milliseconds after which caches that do not fill are a failure. @default never: a CRD may come later */
  readonly cacheSyncTimeout?: number
  /** Freeze what caches hold: for tests. @default false */
  readonly freeze?: boolean
  /** Told of every reconcile when it has ended. */
  readonly onReconcile?: (record: ReconcileRecord) => void
}

const defaultGrace = 30_000
/** How long after the grace period a stop that was asked for hard may take. */
const hardStopGrace = 5_000
/** How long events may still be sent when everything else has stopped. */
const eventGrace = 2_000

/**
 * Runs one operator.
 *
 *   start:  events -> kinds installed -> webhooks -> caches -> what runs everywhere -> election -> what the leader runs
 *   stop:   the same backwards, the lease released when the last reconcile has ended
 */
export class Manager {
  readonly metrics: MetricsRegistry
  readonly definition: OperatorDefinition
  readonly cache: Cache
  readonly controllers: readonly Controller[]
  readonly #options: ManagerOptions
  readonly #env: Env
  readonly #client: Client
  readonly #clusters: Clusters
  readonly #broadcaster: EventBroadcaster
  readonly #elector: LeaderElector | undefined
  readonly #elected = Promise.withResolvers<void>()
  readonly #ready = Promise.withResolvers<void>()
  /** Answers the reviews of API servers; undefined when the operator has no webhooks. */
  readonly webhookHandler: Handler | undefined
  readonly #webhooks: WebhookHost | undefined

  constructor(operator: Operator, options: ManagerOptions) {
    const definition = describeOperator(operator)
    const { name } = definition
    const env = options.env ?? createRealEnv()
    this.#options = options
    this.#env = { ...env, log: env.log.child({ operator: name }) }
    this.definition = definition
    this.metrics = options.metrics ?? new MetricsRegistry()
    this.#client = this.#createClient(name)
    this.#broadcaster = new EventBroadcaster(this.#client, this.#env, options.hostname)
    this.cache = new Cache({
      client: this.#client,
      env: this.#env,
      kinds: definition.caches,
      defaults: definition.cacheDefaults,
      ...(options.freeze && { freeze: true }),
      ...(options.namespaces && { namespaces: options.namespaces }),
    })
    for (const { kind, field, valuesOf } of definition.indexes) this.cache.addIndex(kind, field, valuesOf)
    this.#clusters = new Clusters({
      others: options.clusters ?? {},
      env: this.#env,
      freeze: options.freeze ?? false,
    })
    this.#elector = this.#createElector(name)
    this.webhookHandler = this.#createWebhookHandler()
    this.#webhooks = this.#createWebhookHost()
    this.controllers = definition.controllers.map(controller => {
      const guard = this.#guardFor(controller.options.needsLeader)
      return new Controller(controller, {
        client: this.#client,
        cache: this.cache,
        clusters: this.#clusters,
        env: this.#env,
        events: this.#broadcaster.recorderFor({ component: controller.options.eventSource ?? name }),
        metrics: createControllerMetrics(this.metrics, controller.name),
        registry: this.metrics,
        ...(guard && { guard }),
        ...(options.onReconcile && { onReconcile: options.onReconcile }),
      })
    })
  }

  /** Resolves when this replica leads; without leader election, when the caches are filled. */
  get elected(): Promise<void> {
    return this.#elected.promise
  }

  /** Resolves when its kinds are installed, API servers know of its webhooks and its caches are filled. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  get isLeader(): boolean {
    return this.#elector?.isLeader ?? true
  }

  /** `/healthz`: is the process able to work at all? */
  checkHealth(): Promise<HealthReport> {
    return runChecks(new Map([['ping', () => {}], ...this.definition.healthChecks]))
  }

  /** `/readyz`: are the caches filled, and what the operator itself says. */
  checkReady(): Promise<HealthReport> {
    const synced = (): void => {
      const missing = this.cache.informers.filter(informer => !informer.hasSynced)
      if (missing.length > 0)
        throw new Error(`not synced: ${missing.map(informer => informer.name).join(', ')}`)
    }
    const hosted = (): void => {
      if (!this.#webhooks?.isReady) throw new Error('API servers do not know of the webhooks yet')
    }
    const checks = new Map([['caches', synced]])
    if (this.#webhooks) checks.set('webhooks', hosted)
    return runChecks(new Map([...checks, ...this.definition.readyChecks]))
  }

  /**
   * Runs until `signal` aborts, and resolves when everything has stopped. Once only.
   * @throws what a task throws, or RuntimeError `LeadershipLost`, `CacheNotSynced`, `ShutdownTimeout`
   */
  async run(signal: AbortSignal): Promise<void> {
    const { gracefulShutdown = defaultGrace } = this.#options
    const { clock } = this.#env
    const background = new TaskGroup()
    const work = new TaskGroup(signal)
    const hard = new AbortController()
    const timers: { cancel(): void }[] = []
    const overdue = Promise.withResolvers<never>()
    overdue.promise.catch(() => {})
    const onStop = (): void => {
      const stopHard = (): void => hard.abort(createAbortError('the operator has to stop now'))
      if (gracefulShutdown > 0) timers.push(clock.after(gracefulShutdown, stopHard))
      else stopHard()
      const limit = gracefulShutdown + hardStopGrace
      const error = new RuntimeError('ShutdownTimeout', `something did not stop within ${limit} ms`)
      timers.push(clock.after(limit, () => overdue.reject(error)))
    }
    if (work.signal.aborted) onStop()
    else work.signal.addEventListener('abort', onStop, { once: true })
    for (const controller of this.controllers) controller.prepare()
    const eventStop = new AbortController()
    const telling = this.#broadcaster.run(eventStop.signal)
    const stopNow = (): void => {
      work.abort()
      hard.abort(createAbortError('another replica may lead'))
    }
    work.spawn(async stop => {
      await this.#install(stop)
      work.spawn(() => this.#webhooks?.run(stop))
      // A server that learns of a conversion ends the watches of the kind, and what caches list may have to be converted.
      await this.#webhooks?.tried
      background.spawn(end => this.cache.run(end))
      background.spawn(end => this.#clusters.run(end))
      await this.#work(stop, hard.signal, stopNow)
    })
    try {
      await Promise.race([work.join(), overdue.promise])
    } finally {
      for (const timer of timers) timer.cancel()
      this.#broadcaster.end()
      const limit = clock.after(gracefulShutdown > 0 ? eventGrace : 0, () => eventStop.abort())
      await telling
      limit.cancel()
      background.abort()
      await background.join()
    }
  }

  async #install(signal: AbortSignal): Promise<void> {
    const { install } = this.#options
    if (!install) return
    const webhooks = this.#webhooks
    const conversionFor = webhooks && ((...of: ConversionInput) => webhooks.conversionFor(...of, signal))
    const installed = await installDefinitions(this.#client, [this.definition], {
      signal,
      ...(conversionFor && { conversionFor }),
    })
    for (const each of installed) {
      if (each.change === 'created')
        await waitFor(this.#client, this.#env, { kind: definitionKind, key: each }, isEstablished, { signal })
      install.onInstalled?.(each)
    }
  }

  async #work(stop: AbortSignal, hard: AbortSignal, stopNow: () => void): Promise<void> {
    const { cacheSyncTimeout: timeout } = this.#options
    await waitForCaches(this.cache, { env: this.#env, timeout, signal: stop })
    if (stop.aborted) return
    Promise.resolve(this.#webhooks?.ready).then(this.#ready.resolve)
    const group = new TaskGroup(stop)
    const spawnAll = (target: TaskGroup, needsLeader: boolean, end: AbortSignal): void => {
      for (const controller of this.controllers) {
        if ((controller.definition.options.needsLeader ?? true) !== needsLeader) continue
        target.spawn(groupStop => controller.run(groupStop, end))
      }
      for (const { name, task, needsLeader: leaderOnly } of this.definition.tasks) {
        if (leaderOnly === needsLeader)
          target.spawn(groupStop => this.#runTask(name, task, needsLeader, groupStop))
      }
    }
    group.spawn(aborted) // an operator without work runs all the same
    spawnAll(group, false, hard)
    if (!this.#elector) {
      spawnAll(group, true, hard)
      this.#elected.resolve()
    } else {
      const elector = this.#elector
      group.spawn(groupStop =>
        elector.run(groupStop, async leadership => {
          const leading = new TaskGroup(leadership.stop)
          leadership.lost.addEventListener('abort', stopNow, { once: true })
          spawnAll(leading, true, hard)
          this.#elected.resolve()
          leading.spawn(aborted)
          await leading.join()
        }),
      )
    }
    await group.join()
  }

  async #runTask(
    name: string,
    task: OperatorDefinition['tasks'][number]['task'],
    needsLeader: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log } = this.#env
    const guard = this.#guardFor(needsLeader)
    const client = createCachedClient({
      client: this.#client,
      cache: this.cache,
      clock,
      signal,
      ...(guard && { guard }),
    })
    const env = { ...this.#env, log: log.child({ task: name }) }
    const events = this.#broadcaster.recorderFor({ component: this.definition.name })
    await task({ client, env, signal, events, metrics: this.metrics })
  }

  #guardFor(needsLeader = true): WriteGuard | undefined {
    return needsLeader ? this.#elector : undefined
  }

  #createClient(name: string): Client {
    const { client, transport } = this.#options
    if (client) return client
    if (!transport) throw new RuntimeError('BadDefinition', 'an operator needs a client or a transport')
    const onCall = createClientMetrics(this.metrics)
    return createClient({ transport, env: this.#env, userAgent: name, fieldManager: name, onCall })
  }

  #createWebhookHandler(): Handler | undefined {
    const { webhooks: definitions } = this.definition
    if (definitions.length === 0) return undefined
    const { clock } = this.#env
    return createWebhookHandler({
      definitions,
      env: this.#env,
      metrics: this.metrics,
      clientFor: signal => createCachedClient({ client: this.#client, cache: this.cache, clock, signal }),
    })
  }

  #createWebhookHost(): WebhookHost | undefined {
    const { webhooks: options } = this.#options
    const { name: operator, webhooks: definitions } = this.definition
    const handler = this.webhookHandler
    if (!handler) return undefined
    if (options)
      return new WebhookHost(options, {
        definitions,
        operator,
        handler,
        client: this.#client,
        env: this.#env,
      })
    this.#env.log.warn('the host of this operator does not serve its webhooks')
    return undefined
  }

  #createElector(name: string): LeaderElector | undefined {
    const { leaderElection } = this.#options
    if (!leaderElection) return undefined
    const status = this.metrics.gauge({
      name: 'leader_election_master_status',
      help: 'Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.',
      labels: ['name'],
    })
    const lease = leaderElection.name ?? name
    status.set(0, lease)
    const events = this.#broadcaster.recorderFor({ component: name })
    const metadata = { namespace: leaderElection.namespace, name: lease }
    const subject = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata } as EventSubject
    const elector: LeaderElector = new LeaderElector({
      ...leaderElection,
      client: this.#client,
      env: this.#env,
      operator: name,
      onChange: leading => {
        status.set(leading ? 1 : 0, lease)
        // That it no longer does is for others to tell: it may not write any more.
        if (leading) events.normal(subject, 'LeaderElection', `${elector.identity} became leader`)
      },
    })
    return elector
  }
}

type ConversionInput = Parameters<NonNullable<InstallOptions['conversionFor']>>

function isEstablished(definition: Definition | undefined): boolean {
  const conditions = definition?.status?.conditions ?? []
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True')
}

export interface RunOptions extends ManagerOptions {
  /** Stops the operator. */
  readonly signal: AbortSignal
}

/** Runs an operator until `signal` aborts. See {@link Manager.run}. */
export async function runOperator(operator: Operator, options: RunOptions): Promise<void> {
  const { signal, ...managerOptions } = options
  await new Manager(operator, managerOptions).run(signal)
}
