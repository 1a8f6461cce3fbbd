import type { Kind } from '@coxswain/apimachinery/kinds'
import { keyOf } from '@coxswain/apimachinery/meta'
import type { Client } from '@coxswain/client'
import { type Clock, VirtualWorld } from '@coxswain/kit'
import { describeOperator, type Operator } from '@coxswain/runtime'
import { type Cluster, type ClusterOptions, type ClusterSnapshot, startCluster } from '@coxswain/testing'
import type { Plan } from '../plan.ts'
import { type ResourceRef, type Snapshot, takeSnapshot } from '../state/snapshot.ts'
import { Replica } from './replica.ts'
import { RunLog } from './run-log.ts'
import { parseApiPath, resourceOf, type TraceEntry, type WriteRecord } from './trace.ts'

/** What a scenario works with. */
export interface ScenarioContext {
  /** A user's client, with an administrator's rights. */
  readonly client: Client
  readonly clock: Clock
}

/** What users do while the operator runs. */
export type Scenario = (context: ScenarioContext) => Promise<void>

/** Throws, or rejects, when something holds that never may. Asked after every write to the cluster. */
export type Invariant = (context: ScenarioContext) => Promise<void> | void

/** Everything that all runs of a simulation have in common. */
export interface Stage {
  /** A cluster with the definitions of the operator's kinds: each run starts from it. */
  readonly snapshot: ClusterSnapshot
  readonly operator: Operator
  readonly scenario: Scenario
  readonly always: readonly Invariant[]
  readonly replicas: number
  readonly cluster: Omit<ClusterOptions, 'env' | 'log'>
  /** What matters of the end. @default everything that the operator wrote, and the objects it reconciles */
  readonly desired?: (context: ScenarioContext) => Promise<unknown>
}

/** A moment at which the state is compared with that of an undisturbed run. */
export type CheckpointName = 'end' | 'restart' | 'deletion'

export interface Checkpoint {
  readonly name: CheckpointName
  readonly state: Snapshot
  /** How often the operator wrote while it should have had nothing to do. */
  readonly idleWrites: number
}

/** What became of a run. */
export interface RunResult {
  readonly plan: Plan
  readonly trace: readonly TraceEntry[]
  readonly writes: readonly WriteRecord[]
  /** How many watch events each resource had. */
  readonly events: ReadonlyMap<string, number>
  readonly checkpoints: readonly Checkpoint[]
  /** Faults that had an opportunity. */
  readonly struck: number
  /** What went wrong besides the state: an invariant, a live-lock, a failed scenario. */
  readonly failures: readonly RunFailure[]
}

export interface RunFailure {
  readonly oracle: 'always' | 'settles' | 'scenario' | 'timers'
  readonly message: string
}

/** How long the operator has after the scenario, and after each disturbance that follows, in virtual milliseconds. */
const patience = 600_000
/** Without a write for this long, it has settled: longer than any fault and the back-off after it. */
const settlePeriod = 90_000
/** The length of the time for which writes are counted when it does not settle. */
const idlePeriod = 60_000
const tick = 5_000

/** Boots a cluster with the definitions of the operator's kinds, once for all runs. */
export async function prepareStage(options: Omit<Stage, 'snapshot'>): Promise<Stage> {
  await using cluster = await startCluster({ ...options.cluster, env: new VirtualWorld() })
  await cluster.install(options.operator)
  await cluster.advance(1_000)
  return { ...options, snapshot: await cluster.snapshot() }
}

/** Plays the scenario once, as the plan has it. */
export async function performRun(stage: Stage, plan: Plan): Promise<RunResult> {
  const { snapshot } = stage
  const world = new VirtualWorld({ seed: plan.seed, start: snapshot.time, stepLimit: 100_000 })
  const log = new RunLog(plan.faults, world.clock)
  const failures: RunFailure[] = []
  const checkpoints: Checkpoint[] = []
  {
    await using cluster = await startCluster({ ...stage.cluster, env: world, from: snapshot })
    const replicas = Array.from(
      { length: stage.replicas },
      (_, index) =>
        new Replica({
          number: index + 1,
          seed: plan.seed,
          operator: stage.operator,
          cluster,
          log,
          elects: stage.replicas > 1,
        }),
    )
    try {
      watchInvariants(stage, cluster, failures)
      for (const replica of replicas) replica.boot()
      await cluster.advance(1_000)
      await play(stage, cluster, { log, failures })
      checkpoints.push(await check(stage, cluster, { name: 'end', log }))
      log.isArmed = false
      for (const replica of replicas) await replica.restart()
      checkpoints.push(await check(stage, cluster, { name: 'restart', log }))
      await deleteAll(stage, cluster)
      checkpoints.push(await check(stage, cluster, { name: 'deletion', log }))
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('live-lock'))) throw error
      failures.push({ oracle: 'settles', message: 'it never settles: 100,000 steps without time passing' })
    } finally {
      for (const replica of replicas) await replica.stop()
    }
  }
  if (log.isFlooded)
    failures.push({ oracle: 'settles', message: 'it never comes to rest: it has written a thousand times' })
  if (world.nextTimer !== undefined)
    failures.push({
      oracle: 'timers',
      message: 'a timer of the operator was left behind after it had stopped',
    })
  const { trace, writes, events } = log
  return { plan, trace, writes, events, checkpoints, struck: log.struck.size, failures }
}

interface Record {
  readonly log: RunLog
  readonly failures: RunFailure[]
}

async function play(stage: Stage, cluster: Cluster, { log, failures }: Record): Promise<void> {
  const { clock } = cluster.env
  const client = noting(cluster.client, log)
  try {
    await cluster.run(stage.scenario({ client, clock }))
  } catch (error) {
    failures.push({ oracle: 'scenario', message: error instanceof Error ? error.message : String(error) })
  }
}

/** The client, with what it writes in the trace. */
function noting(client: Client, log: RunLog): Client {
  return new Proxy(client, {
    get(target, property, receiver) {
      const member: unknown = Reflect.get(target, property, receiver)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        const [kind, object] = args as [Partial<Kind>?, unknown?]
        if (!/^(?:get|list|watch)/.test(String(property)) && typeof kind?.kind === 'string')
          log.trace.push({
            entry: 'action',
            time: log.time,
            text: `${String(property)} ${kind.kind} ${nameOf(object)}`,
          })
        return Reflect.apply(member, target, args)
      }
    },
  })
}

function nameOf(subject: unknown): string {
  const { metadata, namespace, name } = (subject ?? {}) as {
    metadata?: { namespace?: string; name?: string }
  } & {
    namespace?: string
    name?: string
  }
  const key = metadata ?? { namespace, name }
  return [key.namespace, key.name].filter(part => part !== undefined).join('/')
}

/** Asks the invariants after every write to the cluster; each is reported once. */
function watchInvariants(stage: Stage, cluster: Cluster, failures: RunFailure[]): void {
  if (stage.always.length === 0) return
  const broken = new Set<Invariant>()
  const context = { client: cluster.client, clock: cluster.env.clock }
  cluster.intercept(async (request, next) => {
    const response = await next(request)
    if (request.method === 'GET' || response.status >= 300) return response
    for (const invariant of stage.always) {
      if (broken.has(invariant)) continue
      try {
        await invariant(context)
      } catch (error) {
        broken.add(invariant)
        const message = error instanceof Error ? error.message : String(error)
        failures.push({ oracle: 'always', message: `${invariant.name || 'an invariant'}: ${message}` })
      }
    }
    return response
  })
}

/** Until the operator has not written for a while, or patience ends. Resolves with how often it wrote in the last minute. */
async function settle(cluster: Cluster, log: RunLog): Promise<number> {
  const times = () => log.writes.at(-1)?.time ?? 0
  const begin = log.time
  while (log.time - begin < patience && log.time - Math.max(begin, times()) < settlePeriod)
    await cluster.advance(tick)
  return log.writes.filter(({ time }) => time > log.time - idlePeriod).length
}

async function check(
  stage: Stage,
  cluster: Cluster,
  { name, log }: { readonly name: CheckpointName; readonly log: RunLog },
): Promise<Checkpoint> {
  const idleWrites = await settle(cluster, log)
  return { name, state: await cluster.run(stateOf(stage, cluster, log)), idleWrites }
}

async function stateOf(stage: Stage, cluster: Cluster, log: RunLog): Promise<Snapshot> {
  const { client, env } = cluster
  if (!stage.desired) return await takeSnapshot(client, resourcesOf(stage.operator, log.writes))
  const value = await stage.desired({ client, clock: env.clock })
  return new Map([['desired', new Map([['', JSON.stringify(value) ?? 'undefined']])]])
}

/** What the operator reconciles and what it wrote. */
function resourcesOf(operator: Operator, writes: readonly WriteRecord[]): Iterable<ResourceRef> {
  const refs = new Map<string, ResourceRef>()
  const add = ({ group, version, resource }: ResourceRef) => {
    const key = resourceOf({ group, resource })
    if (!refs.has(key)) refs.set(key, { group, version, resource })
  }
  for (const { for: kind } of describeOperator(operator).controllers) if (kind) add(kind)
  for (const { path } of writes) add(parseApiPath(path))
  return [...refs.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref)
}

/** Deletes every object that the operator reconciles. */
async function deleteAll(stage: Stage, cluster: Cluster): Promise<void> {
  const { client } = cluster
  for (const { for: kind } of describeOperator(stage.operator).controllers) {
    if (!kind) continue
    const { items } = await cluster.run(client.list(kind))
    for (const item of items) await cluster.run(client.delete(kind, keyOf(item)))
  }
}
