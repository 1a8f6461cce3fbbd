import { hostname } from 'node:os'
import { createClient } from '@coxswain/client'
import { aborted, type Env, type LogThreshold, type TaskGroup } from '@coxswain/kit'
import { registerProcessMetrics } from '@coxswain/kit/node'
import {
  createClientMetrics,
  isRuntimeError,
  type LeaderElectionOptions,
  MetricsRegistry,
  type Operator,
  RecentReconciles,
} from '@coxswain/runtime'
import type { Transport } from '@coxswain/wire'
import { CommandError } from '../exit.ts'
import { rateLimitOf } from '../host/rate-limit.ts'
import { serveEndpoints } from '../host/serve-endpoints.ts'
import { openOperatorTracing } from '../host/tracing.ts'
import { createManager, explainInstall, tellInstalled } from '../operators.ts'
import { webhookOptionsFor } from '../webhooks.ts'
import type { OperatorFlags } from './options/operator-options.ts'

export interface OperatorSurroundings {
  /** A connection to the server, as a member of system:masters. */
  readonly connect: (options?: { readonly lendsAnswers: boolean }) => Transport
  readonly env: Env
  readonly group: TaskGroup
}

/** When a warning about operators that are not ready is logged; some wait for kinds that others install later. */
const readyLimit = 30_000

/** Starts operators with the server, on its thread. Resolves when their kinds are installed and all of them are ready. */
export async function startOperators(
  operators: readonly Operator[],
  flags: OperatorFlags,
  surroundings: OperatorSurroundings & {
    readonly logLevel: LogThreshold
    /** How this server elects leaders, when it does. */
    readonly leaderElection: LeaderElectionOptions | undefined
  },
): Promise<void> {
  const { connect, group, logLevel } = surroundings
  const names = operators.map(({ name }) => name)
  const tracing = await openOperatorTracing(flags, names.join('-'), surroundings.env)
  const { tracer } = tracing
  const env = tracer ? { ...surroundings.env, tracer } : surroundings.env
  const metrics = new MetricsRegistry()
  registerProcessMetrics(metrics)
  const connection = { env, userAgent: `${names.join('-')}/0.1`, transport: connect() }
  const client = createClient({
    ...connection,
    ...rateLimitOf(flags),
    onCall: createClientMetrics(metrics),
  })
  // Leases and reviews are not rate limited.
  const unlimited = flags.kubeApiQps === undefined ? client : createClient(connection)
  const reconciles = new RecentReconciles()
  const { namespaces, concurrency, leaderElectionId: name } = flags
  const manager = createManager(operators, {
    client,
    env,
    hostname: hostname(),
    metrics,
    onReconcile: reconciles.add,
    webhooks: webhookOptionsFor(operators, env, flags),
    install: { onInstalled: tellInstalled },
    ...(namespaces && { namespaces }),
    ...(concurrency && { concurrency }),
    ...(name !== undefined && {
      leaderElection: {
        ...surroundings.leaderElection,
        name,
        namespace: flags.leaderElectionNamespace ?? 'default',
        client: unlimited,
      },
    }),
  })
  const endpoints = await serveEndpoints(flags, {
    manager,
    client: unlimited,
    env,
    reconciles,
    logLevel,
  })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {}) // it also ends the group
  group.spawn(async signal => {
    await using _tracing = tracing
    await using _endpoints = endpoints
    try {
      await manager.run(signal)
    } catch (error) {
      const explained = isRuntimeError(error, 'LeadershipLost')
        ? new CommandError('leader election of the operators lost', { cause: error })
        : explainInstall(error)
      failed.reject(explained)
      throw explained
    }
  })
  const limit = new AbortController()
  const late = env.clock.sleep(readyLimit, { signal: limit.signal }).then(
    () => env.log.warn('operators are not ready yet', { operators: names }),
    () => {},
  )
  const stopped = aborted(group.signal)
  await Promise.race([manager.ready, failed.promise, late, stopped]).finally(() => limit.abort())
}
