import type { JsonObject } from '@coxswain/apimachinery/json'
import { keyOf } from '@coxswain/apimachinery/meta'
import type { Client } from '@coxswain/client'
import { createSeededRandom, VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import { enterWorld } from '../node/global-world.ts'
import type { OracleName } from '../oracle-names.ts'
import type { Plan } from '../plan.ts'
import { playActions } from '../scenario/action.ts'
import {
  describeObjects,
  type FoundObject,
  listObjects,
  type ResourceRef,
  type Snapshot,
} from '../state/snapshot.ts'
import { noting } from './noting-client.ts'
import { interfere } from './others.ts'
import { createSimulatedPods } from './pods.ts'
import { Replica } from './replica.ts'
import { RunLog } from './run-log.ts'
import { OutsideServices } from './services.ts'
import type { Invariant, Stage } from './stage.ts'
import { parseApiPath, resourceOf, type TraceEntry, type WriteRecord } from './trace.ts'

/** A moment at which the state is compared with that of an undisturbed run. */
export type CheckpointName = 'end' | 'restart' | 'deletion'

export interface Checkpoint {
  readonly name: CheckpointName
  readonly state: Snapshot
  /** How often the operator wrote while it should have had nothing to do. */
  readonly idleWrites: number
  /** Objects that report a generation which is not their present one, in words. */
  readonly outdated: readonly string[]
  /** What the operator wrote and is still there, in the cluster and outside. */
  readonly written: readonly string[]
}

/** What became of a run. */
export interface RunResult {
  readonly plan: Plan
  readonly trace: readonly TraceEntry[]
  readonly writes: readonly WriteRecord[]
  /** How many watch events each resource had. */
  readonly events: ReadonlyMap<string, number>
  /** How often there was an opportunity for faults that are not about writes and watch events. */
  readonly counts: {
    readonly reads: number
    readonly pods: number
    readonly calls: number
    readonly webhookCalls: number
  }
  readonly checkpoints: readonly Checkpoint[]
  /** Faults that had an opportunity. */
  readonly struck: number
  /** What went wrong besides the state: an invariant, a live-lock, a failed scenario. */
  readonly failures: readonly RunFailure[]
}

export interface RunFailure {
  readonly oracle: OracleName
  readonly message: string
}

/** How long the operator has after the scenario, and after each disturbance that follows, in virtual milliseconds. */
const patience = 600_000
/** Without a write for this long, it has settled: longer than any fault and the back-off after it. */
const settlePeriod = 90_000
/** How long a user waits for it to settle between two actions. */
const userPatience = 300_000
/** The length of the time for which writes are counted when it does not settle. */
const idlePeriod = 60_000
const tick = 5_000
const stepLimit = 100_000

/** Plays a scenario once, as the plan has it. With `isTraced` the trace has lines of source. */
export async function performRun(
  stage: Stage,
  plan: Plan,
  options: { readonly isTraced?: boolean } = {},
): Promise<RunResult> {
  const world = new VirtualWorld({ seed: plan.seed, start: stage.snapshot.time, stepLimit })
  const log = new RunLog(plan.faults, world.clock, options)
  const failures: RunFailure[] = []
  const fail = (oracle: OracleName, message: string) => {
    if (!failures.some(each => each.oracle === oracle && each.message === message))
      failures.push({ oracle, message })
  }
  const services = new OutsideServices({ log, clock: world.clock, random: createSeededRandom(plan.seed + 7) })
  for (const [host, create] of Object.entries(stage.services)) services.serve(host, create())
  const checkpoints: Checkpoint[] = []
  {
    using _ = enterWorld({
      clock: world.clock,
      services,
      onUnhandledRejection: reason =>
        fail('unhandled-rejection', `a rejected promise is not handled: ${messageOf(reason)}`),
    })
    await using cluster = await startCluster({ ...stage.cluster, env: world, from: stage.snapshot })
    const run: Run = { stage, plan, cluster, log, services, fail }
    const replicas = createReplicas(run)
    if (!stage.cluster.nodes) startPodsAsNeeded(run)
    slowControllers(run)
    try {
      watchInvariants(run)
      for (const replica of replicas) replica.boot()
      await cluster.advance(1_000)
      await play(run)
      if (!log.isFlooded) checkpoints.push(await check(run, 'end'))
      log.isArmed = false
      if (log.isFlooded) throw new FloodedError()
      for (const replica of replicas) await replica.restart()
      checkpoints.push(await check(run, 'restart'))
      await deleteAll(run)
      checkpoints.push(await check(run, 'deletion'))
    } catch (error) {
      const isSpinning = error instanceof Error && error.message.startsWith('live-lock')
      if (!isSpinning && !(error instanceof FloodedError)) throw error
      if (isSpinning) fail('steps', 'it spins: 100,000 steps without time passing')
    } finally {
      for (const replica of replicas) await replica.stop()
    }
  }
  if (log.isFlooded) fail('settles', 'it never comes to rest: it has written 600 times')
  if (world.nextTimer !== undefined)
    fail('timers', 'a timer of the operator was left behind after it had stopped')
  const { trace, writes, events, reads, pods, calls, webhookCalls } = log
  const counts = { reads, pods, calls, webhookCalls }
  return { plan, trace, writes, events, counts, checkpoints, struck: log.struck.size, failures }
}

/** Ends a run whose operator never comes to rest: there is nothing more to learn from it. */
class FloodedError extends Error {}

/** One run, while it is performed. */
interface Run {
  readonly stage: Stage
  readonly plan: Plan
  readonly cluster: Cluster
  readonly log: RunLog
  readonly services: OutsideServices
  readonly fail: (oracle: OracleName, message: string) => void
}

function createReplicas({ stage, plan, cluster, log, fail }: Run): Replica[] {
  const count = plan.replicas ?? stage.replicas
  const other = { client: cluster.client, clock: cluster.env.clock }
  const onError = (error: unknown) => {
    if (error instanceof TypeError && /read only|not extensible|Cannot delete property/.test(error.message))
      fail('cached-objects', `a cached object is changed in place: ${error.message}`)
    else if (programmingErrors.some(each => error instanceof each) && !/fetch failed/.test(messageOf(error)))
      fail('exceptions', `a reconcile throws ${messageOf(error)}`)
  }
  return Array.from(
    { length: count },
    (_, index) =>
      new Replica({
        number: index + 1,
        seed: plan.seed,
        operator: stage.operator,
        cluster,
        log,
        elects: count > 1,
        interfere: (fault, write) => interfere(other, fault, write),
        onError,
        onStaleWrite: text => fail('stale-write', text),
      }),
  )
}

const programmingErrors = [TypeError, RangeError, ReferenceError, SyntaxError]

/** Pods get nodes, run and end, from the first one on. */
function startPodsAsNeeded({ cluster, log }: Run): void {
  let isStarted = false
  cluster.intercept((request, next) => {
    if (!isStarted && request.method === 'POST' && /\/pods$/.test(request.path)) {
      isStarted = true
      cluster.start(createSimulatedPods(log), { errorEvents: false })
    }
    return next(request)
  })
}

/** The most milliseconds that a write of a built-in controller takes: without, garbage collection and an operator can race each other endlessly. */
const controllerLatency = 200

function slowControllers({ cluster, plan }: Run): void {
  const random = createSeededRandom(plan.seed + 13)
  const { clock } = cluster.env
  cluster.intercept(async (request, next) => {
    const isController = String(request.headers['user-agent']).startsWith('kube-controller-manager')
    if (isController && request.method !== 'GET')
      await clock.sleep(50 + random.below(controllerLatency), { signal: request.signal })
    return await next(request)
  })
}

async function play({ stage, plan, cluster, log, services, fail }: Run): Promise<void> {
  const { clock } = cluster.env
  const note = (text: string) => log.trace.push({ entry: 'action', time: log.time, text })
  const settle = async () => {
    const begin = log.time
    while (!log.isFlooded && log.time - begin < userPatience && quietSince(log, begin) < settlePeriod)
      await clock.sleep(tick)
  }
  try {
    if (plan.actions)
      await cluster.run(
        playActions(plan.actions, { client: cluster.client, clock, kinds: stage.kinds, settle, note }),
      )
    else if (stage.scenario) {
      const client: Client = noting(cluster.client, note)
      const service = (host: string, handler: Parameters<OutsideServices['serve']>[1]) =>
        services.serve(host, handler)
      await cluster.run(stage.scenario({ client, clock, service, settle }))
    }
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('live-lock')) throw error
    fail('scenario', messageOf(error))
  }
}

/** How long the operator has not written, or since `begin`. */
const quietSince = (log: RunLog, begin: number): number =>
  log.time - Math.max(begin, log.writes.at(-1)?.time ?? 0)

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Asks the invariants after every write to the cluster; each is reported once. */
function watchInvariants({ stage, cluster, fail }: Run): void {
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
        fail('always', `${invariant.name || 'an invariant'}: ${messageOf(error)}`)
      }
    }
    return response
  })
}

/** Waits until the operator has not written for a while, or patience ends, and reads the state. */
async function check(run: Run, name: CheckpointName): Promise<Checkpoint> {
  const { cluster, log } = run
  const begin = log.time
  while (!log.isFlooded && log.time - begin < patience && quietSince(log, begin) < settlePeriod)
    await cluster.advance(tick)
  const idleWrites = log.writes.filter(({ time }) => time > log.time - idlePeriod).length
  return { name, idleWrites, ...(await cluster.run(stateOf(run))) }
}

async function stateOf({
  stage,
  cluster,
  log,
  services,
}: Run): Promise<Omit<Checkpoint, 'name' | 'idleWrites'>> {
  const { client, env } = cluster
  if (stage.desired) {
    const value = await stage.desired({ client, clock: env.clock })
    return {
      state: new Map([['desired', new Map([['', JSON.stringify(value) ?? 'undefined']])]]),
      outdated: [],
      written: [],
    }
  }
  const found = await listObjects(client, resourcesOf(stage, log.writes))
  const outside = services
    .contents()
    .map(({ key, value }) => ({ resource: key, object: { value } as JsonObject }))
  const uids = new Set(log.writes.map(({ object }) => (object?.metadata as JsonObject | undefined)?.uid))
  const own = found.filter(({ object }) => uids.has((object.metadata as JsonObject).uid))
  return {
    state: describeObjects([...found, ...outside]),
    outdated: found.flatMap(outdatedOf),
    written: [
      ...own.map(({ resource, object }) => `${resource} ${placeOf(object)}`),
      ...outside.map(({ resource }) => resource),
    ],
  }
}

/** `default/a`. */
function placeOf({ metadata }: JsonObject): string {
  const { namespace, name } = metadata as { readonly namespace?: string; readonly name?: string }
  return [namespace, name].filter(part => part !== undefined).join('/')
}

/** An object whose status is about an earlier generation. */
function outdatedOf({ resource, object }: FoundObject): string[] {
  const { metadata, status } = object as {
    metadata?: { generation?: number }
    status?: { observedGeneration?: unknown }
  }
  const observed = status?.observedGeneration
  if (typeof observed !== 'number' || metadata?.generation === undefined || observed >= metadata.generation)
    return []
  return [
    `${resource} ${placeOf(object)}: status.observedGeneration is ${observed}, the generation ${metadata.generation}`,
  ]
}

/** What the operator reconciles and what it wrote. */
function resourcesOf({ kinds }: Stage, writes: readonly WriteRecord[]): ResourceRef[] {
  const refs = new Map<string, ResourceRef>()
  const add = ({ group, version, resource }: ResourceRef) => {
    const key = resourceOf({ group, resource })
    if (!refs.has(key) && !ignored.has(key)) refs.set(key, { group, version, resource })
  }
  for (const kind of kinds) add(kind)
  for (const { path, status } of writes) if (status !== undefined && status < 300) add(parseApiPath(path))
  return [...refs.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref)
}

/** Written by the framework, the same in every run. */
const ignored = new Set([
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'apiextensions.k8s.io/customresourcedefinitions',
])

/** Deletes every object that the operator reconciles. */
async function deleteAll({ stage, cluster }: Run): Promise<void> {
  const { client } = cluster
  for (const kind of stage.kinds) {
    const { items } = await cluster.run(client.list(kind))
    for (const item of items)
      if (!(kind.kind === 'Service' && item.metadata.name === 'kubernetes'))
        await cluster.run(client.delete(kind, keyOf(item)))
  }
}
