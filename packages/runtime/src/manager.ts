import { type Client, conditions, createClient, waitFor } from '@coxswain/client'
import type { InformerFactory } from '@coxswain/informers'
import { aborted, createAbortError, createRealEnv, type Env, TaskGroup } from '@coxswain/kit'
import type { Handler, Transport } from '@coxswain/wire'
import { createInformers } from './cache.ts'
import { Clusters, type OtherCluster } from './clusters.ts'
import type { Controller } from './controller.ts'
import { RuntimeError } from './errors.ts'
import type { EventSubject } from './event-recorder.ts'
import { type HealthReport, runChecks } from './health.ts'
import { type InstalledKind, type InstallOptions, installDefinitions } from './install-kinds.ts'
import { EventBroadcaster } from './internal/event-broadcaster.ts'
import { HostedOperator, type SpawnOptions } from './internal/hosted-operator.ts'
import { kindKey } from './internal/kind-key.ts'
import { waitForCaches } from './internal/wait-for-caches.ts'
import { type LeaderElectionOptions, LeaderElector } from './leader-election.ts'
import { createClientMetrics } from './metrics/client-metrics.ts'
import { MetricsRegistry } from './metrics/registry.ts'
import { describeOperator, type HealthCheck, type Operator, type OperatorDefinition } from './operator.ts'
import type { ReconcileRecord } from './reconcile-record.ts'
import { crdKind } from './webhook/kinds.ts'
import { createWebhookHandler } from './webhook/webhook-handler.ts'
import { WebhookHost, type WebhookOptions } from './webhook/webhook-host.ts'

/** Options of {@link Manager}. */
export interface ManagerOptions {
  /** How to reach the server: a client, or a transport for a new one. */
  readonly client?: Client
  readonly transport?: Transport
  /** @default real time and randomness, without logs */
  readonly env?: Env
  /** The machine it runs on, for events with an action. @default unknown */
  readonly hostname?: string
  /** Namespaced kinds are seen in these namespaces only. @default all */
  readonly namespaces?: readonly string[]
  /** Other clusters that controllers watch and write, by name. */
  readonly clusters?: Readonly<Record<string, OtherCluster>>
  /** How many objects controllers reconcile concurrently, by controller name, instead of their own option. */
  readonly concurrency?: Readonly<Record<string, number>>
  /** Only one of several replicas reconciles. @default off */
  readonly leaderElection?: LeaderElectionOptions
  /**
   * Applies the CRDs of its kinds before anything else starts, those with conversions once their webhook is served.
   * See `installKinds`. @default CRDs are not installed
   */
  readonly install?: { readonly onInstalled?: (installed: InstalledKind) => void }
  /** How API servers reach the operator's webhooks. @default webhooks are not served */
  readonly webhooks?: WebhookOptions
  /** Where metrics go. @default a registry of its own */
  readonly metrics?: MetricsRegistry
  /** The grace period of reconciles when the operator stops, in milliseconds. @default 30000 */
  readonly gracefulShutdown?: number
  /** Milliseconds after which caches that have not synced are a failure. @default never: a CRD may be installed later */
  readonly cacheSyncTimeout?: number
  /** Freeze cached objects: for tests. @default false */
  readonly freeze?: boolean
  /** A reconcile that keeps failing records a Warning event `ReconcileError` on its object. @default true */
  readonly errorEvents?: boolean
  /** Called after every reconcile. */
  readonly onReconcile?: (record: ReconcileRecord) => void
}

const defaultGrace = 30_000
/** How long aborted reconciles may take to end after the grace period. */
const hardStopGrace = 5_000
/** How long queued events may still be sent when everything else has stopped. */
const eventGrace = 2_000

/**
 * Runs one operator, or several: they share one client, their informers, one lease and one webhook server. Each has its own
 * view of the caches: its options of a kind or an index apply to its own reads.
 *
 *   start:  events -> kinds installed -> webhooks -> caches -> what every replica runs -> election -> what the leader runs
 *   stop:   the same backwards, the lease released when the last reconcile has ended
 */
export class Manager {
  /** That of the operator; of several, their names with `-` between them. */
  readonly name: string
  readonly metrics: MetricsRegistry
  readonly controllers: readonly Controller[]
  readonly #operators: readonly HostedOperator[]
  readonly #informers: InformerFactory
  readonly #options: ManagerOptions
  readonly #env: Env
  readonly #client: Client
  readonly #clusters: Clusters
  readonly #broadcaster: EventBroadcaster
  readonly #elector: LeaderElector | undefined
  readonly #elected = Promise.withResolvers<void>()
  readonly #ready = Promise.withResolvers<void>()
  /** Handles the reviews of API servers; undefined when there are no webhooks. */
  readonly webhookHandler: Handler | undefined
  readonly #webhooks: WebhookHost | undefined

  constructor(operators: Operator | readonly Operator[], options: ManagerOptions) {
    const definitions = [operators].flat().map(describeOperator)
    checkNames(definitions, options)
    const env = options.env ?? createRealEnv()
    this.name = definitions.map(({ name }) => name).join('-')
    this.#options = options
    this.#env = { ...env, log: env.log.child({ operator: this.name }) }
    this.metrics = options.metrics ?? new MetricsRegistry()
    this.#client = this.#createClient()
    this.#broadcaster = new EventBroadcaster(this.#client, this.#env, options.hostname)
    const freeze = options.freeze ?? false
    this.#informers = createInformers({ client: this.#client, env: this.#env, freeze })
    this.#clusters = new Clusters({ others: options.clusters ?? {}, env: this.#env, freeze })
    this.#elector = this.#createElector()
    const host = {
      client: this.#client,
      env,
      informers: this.#informers,
      clusters: this.#clusters,
      broadcaster: this.#broadcaster,
      metrics: this.metrics,
      guard: this.#elector,
      namespaces: options.namespaces,
      freeze,
      concurrency: options.concurrency ?? {},
      errorEvents: options.errorEvents ?? true,
      onReconcile: options.onReconcile,
    }
    this.#operators = definitions.map(definition => new HostedOperator(definition, host))
    this.controllers = this.#operators.flatMap(({ controllers }) => controllers)
    this.webhookHandler = this.#createWebhookHandler()
    this.#webhooks = this.#createWebhookHost()
  }

  /** Resolves when this replica leads; without leader election, when the caches have synced. */
  get elected(): Promise<void> {
    return this.#elected.promise
  }

  /** Resolves when its kinds are installed, its webhooks are configured and its caches have synced. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  get isLeader(): boolean {
    return this.#elector?.isLeader ?? true
  }

  /** The handlers of other paths of the metrics server. */
  get metricsHandlers(): ReadonlyMap<string, Handler> {
    return new Map(this.#operators.flatMap(({ definition }) => [...definition.metricsHandlers]))
  }

  /** `/healthz`: whether the process can work at all; `only` runs one check, and reports none when it does not exist. */
  checkHealth(only?: string): Promise<HealthReport> {
    return runChecks(new Map([['ping', () => {}], ...this.#checks('healthChecks')]), only)
  }

  /** `/readyz`: whether the caches have synced, and the operator's own checks; `only` runs one of them. */
  checkReady(only?: string): Promise<HealthReport> {
    const synced = (): void => {
      const missing = this.#informers.informers.filter(informer => !informer.hasSynced)
      if (missing.length > 0)
        throw new Error(`not synced: ${missing.map(informer => informer.name).join(', ')}`)
    }
    const hosted = (): void => {
      if (!this.#webhooks?.isReady) throw new Error('the webhooks are not configured yet')
    }
    const checks = new Map([['caches', synced]])
    if (this.#webhooks) checks.set('webhooks', hosted)
    return runChecks(new Map([...checks, ...this.#checks('readyChecks')]), only)
  }

  /** The checks of the operators; of several operators, prefixed with the operator's name. */
  #checks(of: 'healthChecks' | 'readyChecks'): [string, HealthCheck][] {
    const isOne = this.#operators.length === 1
    return this.#operators.flatMap(({ definition }) =>
      [...definition[of]].map(([name, check]): [string, HealthCheck] => [
        isOne ? name : `${definition.name}.${name}`,
        check,
      ]),
    )
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
      const error = new RuntimeError('ShutdownTimeout', `the operator did not stop within ${limit} ms`)
      timers.push(clock.after(limit, () => overdue.reject(error)))
    }
    if (work.signal.aborted) onStop()
    else work.signal.addEventListener('abort', onStop, { once: true })
    if (this.webhookHandler && !this.#webhooks)
      this.#env.log.warn('the host of this operator does not serve its webhooks')
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
      // A server that gets a conversion ends the watches of the kind, and lists of caches may have to be converted.
      await this.#webhooks?.tried
      background.spawn(end => this.#informers.run(end))
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
    const installed = await installDefinitions(
      this.#client,
      this.#operators.map(({ definition }) => definition),
      {
        signal,
        ...(conversionFor && { conversionFor }),
      },
    )
    for (const each of installed) {
      if (each.change === 'created')
        await waitFor(this.#client, this.#env, { kind: crdKind, key: each }, conditions.isCrdEstablished, {
          signal,
        })
      install.onInstalled?.(each)
    }
  }

  async #work(stop: AbortSignal, hard: AbortSignal, stopNow: () => void): Promise<void> {
    const { cacheSyncTimeout: timeout } = this.#options
    await waitForCaches(this.#informers, { env: this.#env, timeout, signal: stop })
    if (stop.aborted) return
    Promise.resolve(this.#webhooks?.ready).then(this.#ready.resolve)
    const group = new TaskGroup(stop)
    const spawnAll = (target: TaskGroup, who: Pick<SpawnOptions, 'needsLeader'>): void => {
      for (const operator of this.#operators) operator.spawn(target, { ...who, hard })
    }
    group.spawn(aborted) // an operator without controllers runs too
    spawnAll(group, { needsLeader: false })
    if (!this.#elector) {
      spawnAll(group, { needsLeader: true })
      this.#elected.resolve()
    } else {
      const elector = this.#elector
      group.spawn(groupStop =>
        elector.run(groupStop, async leadership => {
          const leading = new TaskGroup(leadership.stop)
          leadership.lost.addEventListener('abort', stopNow, { once: true })
          spawnAll(leading, { needsLeader: true })
          this.#elected.resolve()
          leading.spawn(aborted)
          await leading.join()
        }),
      )
    }
    await group.join()
  }

  #createClient(): Client {
    const { name } = this
    const { client, transport } = this.#options
    if (client) return client
    if (!transport) throw new RuntimeError('BadDefinition', 'an operator needs a client or a transport')
    const onCall = createClientMetrics(this.metrics)
    return createClient({ transport, env: this.#env, userAgent: name, fieldManager: name, onCall })
  }

  #createWebhookHandler(): Handler | undefined {
    const owners = new Map(
      this.#operators.flatMap(operator => operator.definition.webhooks.map(webhook => [webhook, operator])),
    )
    if (owners.size === 0) return undefined
    return createWebhookHandler({
      definitions: [...owners.keys()],
      env: this.#env,
      metrics: this.metrics,
      clientFor: ({ signal, span, definition }) => owners.get(definition)!.clientFor(signal, { span }),
    })
  }

  #createWebhookHost(): WebhookHost | undefined {
    const { webhooks: options } = this.#options
    const handler = this.webhookHandler
    if (!handler || !options) return undefined
    const withWebhooks = this.#operators.filter(({ definition }) => definition.webhooks.length > 0)
    const definitions = new Map(withWebhooks.map(({ definition }) => [definition.name, definition.webhooks]))
    const { name } = this
    return new WebhookHost(options, { definitions, name, handler, client: this.#client, env: this.#env })
  }

  #createElector(): LeaderElector | undefined {
    const { name } = this
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
      client: this.#client,
      ...leaderElection,
      env: this.#env,
      operator: name,
      hostname: this.#options.hostname,
      onChange: leading => {
        status.set(leading ? 1 : 0, lease)
        // Losing leadership is not recorded: this replica may not write any more.
        if (leading) events.normal(subject, 'LeaderElection', `${elector.identity} became leader`)
      },
    })
    return elector
  }
}

/** Names that identify metrics, paths and options have to be unique. */
function checkNames(definitions: readonly OperatorDefinition[], { concurrency = {} }: ManagerOptions): void {
  if (definitions.length === 0) throw new RuntimeError('BadDefinition', 'a manager needs an operator')
  const controllers = definitions.flatMap(definition => definition.controllers.map(({ name }) => name))
  refuseTwice(
    'operators',
    definitions.map(({ name }) => name),
  )
  refuseTwice('controllers', controllers)
  refuseTwice(
    'metrics handlers for',
    definitions.flatMap(({ metricsHandlers }) => [...metricsHandlers.keys()]),
  )
  refuseTwice(
    'webhooks for',
    definitions.flatMap(({ webhooks }) => webhooks.map(({ kind }) => kindKey(kind))),
  )
  const unknown = Object.keys(concurrency).find(name => !controllers.includes(name))
  if (unknown !== undefined)
    throw new RuntimeError(
      'BadDefinition',
      `there is no controller ${unknown}; there are: ${controllers.join(', ') || 'none'}`,
    )
}

function refuseTwice(what: string, names: readonly string[]): void {
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) throw new RuntimeError('BadDefinition', `there are two ${what} ${name}`)
    seen.add(name)
  }
}

type ConversionInput = Parameters<NonNullable<InstallOptions['conversionFor']>>

/** Options of {@link runOperator}. */
export interface RunOptions extends ManagerOptions {
  /** Stops the operator. */
  readonly signal: AbortSignal
}

/** Runs operators until `signal` aborts. See {@link Manager.run}. */
export async function runOperator(
  operators: Operator | readonly Operator[],
  options: RunOptions,
): Promise<void> {
  const { signal, ...managerOptions } = options
  await new Manager(operators, managerOptions).run(signal)
}
