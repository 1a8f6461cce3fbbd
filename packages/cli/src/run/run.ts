import { hostname } from 'node:os'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import { type Client, createClient } from '@coxswain/client'
import { type ConnectedClient, createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv, type Env, type LogLevel, LogThreshold } from '@coxswain/kit'
import { abortOnSignals, registerProcessMetrics } from '@coxswain/kit/node'
import {
  createClientMetrics,
  findKindsToInstall,
  type InstalledKind,
  isRuntimeError,
  type KindsToInstall,
  type LeaderElectionOptions,
  MetricsRegistry,
  type Operator,
  RecentReconciles,
} from '@coxswain/runtime'
import { isTransportError } from '@coxswain/wire'
import type { Command } from 'commander'
import { CommandError } from '../exit.ts'
import { createLog, cycleOnSignal } from '../host/create-log.ts'
import { applyConfig, loadConfig, operatorsOf } from '../host/load-config.ts'
import { type RateLimitFlags, rateLimitOf } from '../host/rate-limit.ts'
import { type EndpointFlags, serveEndpoints } from '../host/serve-endpoints.ts'
import { runSettings } from '../host/settings.ts'
import { openOperatorTracing, type TracingFlags } from '../host/tracing.ts'
import { explainKubeconfigError } from '../kubeconfig/kubeconfig-error.ts'
import { createManager, explainInstall, loadOperators, tellInstalled } from '../operators.ts'
import type { WebhookSuccession } from '../webhook-succession.ts'
import { type WebhookCommandOptions, webhookOptionsFor } from '../webhooks.ts'

export interface RunCommandOptions
  extends WebhookCommandOptions,
    EndpointFlags,
    RateLimitFlags,
    TracingFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly install: boolean
  readonly leaderElect: boolean
  readonly leaderElectionId?: string
  readonly leaderElectionNamespace?: string
  readonly leaderElectionLeaseDuration: string
  readonly leaderElectionRenewDeadline: string
  readonly leaderElectionRetryPeriod: string
  readonly leaderElectionReleaseOnCancel: boolean
  readonly namespaces?: readonly string[]
  readonly concurrency?: Readonly<Record<string, number>>
  readonly logFormat?: 'text' | 'json'
  readonly logLevel: LogLevel
}

export interface RunEvents {
  /** The caches are filled. */
  readonly onReady?: () => void
  /** @default a line on standard error */
  readonly onInstalled?: (installed: InstalledKind) => void
  /** @default this process does not replace another one, and none will replace it */
  readonly succession?: WebhookSuccession
}

/** Runs operators against the cluster of the kubeconfig until a signal stops them, or the lease is lost. */
export async function runRun(
  named: readonly string[],
  command: Command,
  events: RunEvents = {},
): Promise<void> {
  const { succession } = events
  try {
    await configureAndHost(named, command, events)
  } finally {
    if (succession?.hasLeft) await removeLeft(command.opts<RunCommandOptions>(), succession)
  }
}

/** After operators that could not be loaded: requests must not wait for webhooks that are not served. */
async function removeLeft(options: RunCommandOptions, succession: WebhookSuccession): Promise<void> {
  const env = createRealEnv()
  try {
    await using connected = await connect(options, env, new MetricsRegistry())
    await succession.removeLeft(connected.client)
  } catch (error) {
    env.log.warn('webhook configurations were left behind', { error })
  }
}

async function configureAndHost(
  named: readonly string[],
  command: Command,
  events: RunEvents,
): Promise<void> {
  const loaded = await loadConfig(command.getOptionValue('config') as string | undefined)
  if (loaded) applyConfig(command, runSettings, loaded)
  const options = command.opts<RunCommandOptions>()
  const files = named.length > 0 || !loaded ? named : operatorsOf(loaded)
  if (files.length === 0)
    throw new CommandError('no operators: name their files, or list them in coxswain.config.ts', {
      exitCode: 2,
    })
  refuseIgnored(command, options)
  await host(files, options, events)
}

/** Rejects flags that would have no effect. */
function refuseIgnored(command: Command, options: RunCommandOptions): void {
  const { leaderElect, metricsSecure, kubeApiQps, metricsBindAddress: metrics } = options
  const rules: readonly (readonly [prefix: string, needs: string, isMet: boolean])[] = [
    ['leaderElection', '--leader-elect', leaderElect],
    ['metricsSecure', '--metrics-bind-address', metrics !== '0'],
    ['metricsCert', '--metrics-secure', metricsSecure],
    ['kubeApiBurst', '--kube-api-qps', kubeApiQps !== undefined],
  ]
  for (const option of command.options) {
    const property = option.attributeName()
    if (command.getOptionValueSource(property) !== 'cli') continue
    const broken = rules.find(([prefix, , isMet]) => !isMet && property.startsWith(prefix))
    if (broken) throw new CommandError(`${option.long} has no effect without ${broken[1]}`, { exitCode: 2 })
  }
}

async function host(
  files: readonly string[],
  options: RunCommandOptions,
  { onReady = () => {}, onInstalled = tellInstalled, succession }: RunEvents,
): Promise<void> {
  const periods = readPeriods(options)
  const logLevel = new LogThreshold(options.logLevel)
  const plain = createRealEnv(createLog(options.logFormat, logLevel))
  using _signal = cycleOnSignal(logLevel, plain.log)
  const operators = await loadOperators(files)
  await using tracing = await openOperatorTracing(options, operators.map(({ name }) => name).join('-'), plain)
  const { tracer } = tracing
  const env = tracer ? { ...plain, tracer } : plain
  const metrics = new MetricsRegistry()
  registerProcessMetrics(metrics)
  await using connected = await connect(options, env, metrics)
  const { client } = connected
  // Leases and reviews are not rate limited.
  const unlimited = options.kubeApiQps === undefined ? client : createClient({ ...connected, env, userAgent })
  using stop = abortOnSignals()
  using _replace = succession?.listen()
  using _alive = keepAlive()
  const reconciles = new RecentReconciles()
  const manager = createManager(operators, {
    client,
    env,
    metrics,
    hostname: hostname(),
    onReconcile: reconciles.add,
    webhooks: webhookOptionsFor(operators, env, { ...options, ...(succession && { succession }) }),
    ...(options.install && { install: { onInstalled } }),
    ...(options.namespaces && { namespaces: options.namespaces }),
    ...(options.concurrency && { concurrency: options.concurrency }),
    ...(options.leaderElect && {
      leaderElection: { ...periods, ...leaseOf(options, connected.namespace), client: unlimited },
    }),
  })
  const surroundings = { manager, client: unlimited, env, reconciles, logLevel }
  await using _endpoints = await serveEndpoints(options, surroundings)
  process.stdout.write(
    `running ${operators.map(({ name }) => name).join(', ')} against ${connected.server}\n`,
  )
  const running = manager.run(stop.signal)
  running.catch(() => {}) // it is awaited below
  manager.ready.then(onReady)
  if (succession)
    manager.ready
      .then(() => succession.removeLeft(client))
      .catch((error: unknown) => env.log.warn('webhook configurations were left behind', { error }))
  if (!options.install) await reportNotInstalled(client, operators, files)
  await running.catch((error: unknown) => {
    if (isRuntimeError(error, 'LeadershipLost'))
      throw new CommandError('leader election lost', { cause: error })
    if (isTransportError(error))
      throw new CommandError(`the API server cannot be reached: ${error.message}`, { cause: error })
    throw explainInstall(error)
  })
}

const userAgent = 'coxswain-run/0.1'

async function connect(
  options: RunCommandOptions,
  env: Env,
  metrics: MetricsRegistry,
): Promise<ConnectedClient> {
  const { kubeconfig, context } = options
  try {
    return await createClientFromKubeconfig({
      env,
      userAgent,
      onCall: createClientMetrics(metrics),
      ...rateLimitOf(options),
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
    })
  } catch (error) {
    throw explainKubeconfigError(error, kubeconfig)
  }
}

type Periods = Required<Pick<LeaderElectionOptions, 'leaseDuration' | 'renewDeadline' | 'retryPeriod'>>

function readPeriods(options: RunCommandOptions): Periods {
  const read = (text: string): number => durationToMilliseconds(parseDuration(text))
  const leaseDuration = read(options.leaderElectionLeaseDuration)
  const renewDeadline = read(options.leaderElectionRenewDeadline)
  const retryPeriod = read(options.leaderElectionRetryPeriod)
  if (leaseDuration <= renewDeadline || renewDeadline <= retryPeriod * 1.2 || retryPeriod <= 0)
    throw new CommandError(
      '--leader-election-lease-duration must be greater than --leader-election-renew-deadline, and that greater than 1.2 times --leader-election-retry-period',
      { exitCode: 2 },
    )
  return { leaseDuration, renewDeadline, retryPeriod }
}

function leaseOf(options: RunCommandOptions, namespace: string): LeaderElectionOptions {
  const { leaderElectionId: name, leaderElectionReleaseOnCancel: releaseOnCancel } = options
  return {
    namespace: options.leaderElectionNamespace ?? namespace,
    releaseOnCancel,
    ...(name !== undefined && { name }),
  }
}

/** Operators wait for missing CRDs, and run with outdated ones: reminds the user to install them. */
async function reportNotInstalled(
  client: Client,
  operators: readonly Operator[],
  files: readonly string[],
): Promise<void> {
  let kinds: KindsToInstall
  try {
    kinds = await findKindsToInstall(client, operators)
  } catch {
    return // no answer, or not authorized: the operators report what they cannot do
  }
  const report = (state: string, names: readonly string[], what: string): void => {
    if (names.length === 0) return
    const those = names.length === 1 ? 'it' : 'them'
    process.stderr.write(
      `coxswain: ${state}: customresourcedefinition ${names.join(', ')}; to ${what} ${those}, run: coxswain run --install ${files.join(' ')}\n`,
    )
  }
  report('not installed', kinds.missing, 'install')
  report('differs from the definition of this operator', kinds.outdated, 'update')
}

/** Keeps the process alive until a signal, even when nothing else does. */
function keepAlive(): Disposable {
  const timer = setInterval(() => {}, 2 ** 30)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
