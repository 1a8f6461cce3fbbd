import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { createDiscovery } from '@coxswain/client'
import { type Clock, silentLogger } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import type { Baseline } from '../oracles.ts'
import type { Plan } from '../plan.ts'
import { deleteObjects } from '../preview/delete-objects.ts'
import type { ManifestObject } from '../preview/manifest-object.ts'
import { compareSnapshots } from '../state/compare.ts'
import { type ResourceRef, type Snapshot, takeSnapshot } from '../state/snapshot.ts'
import type { TortureFault } from '../torture/faults.ts'
import { FaultyServer } from '../torture/faulty-server.ts'
import type { TortureRun } from '../torture/torture.ts'
import type { CheckpointName } from '../world/run.ts'
import { parseApiPath, resourceOf, type WriteRecord } from '../world/trace.ts'
import { OperatorProcess } from './operator-process.ts'

/** One thing that users do: the objects of a file of the scenario. */
export interface TortureStep {
  readonly name: string
  readonly action: 'apply' | 'delete'
  readonly objects: readonly ManifestObject[]
}

/** Everything that all runs have in common. */
export interface TortureStage {
  /** The operator; `{kubeconfig}` in an argument is the path of its kubeconfig, which is also in KUBECONFIG. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly steps: readonly TortureStep[]
  /** Without a write for this long, the operator has settled, in milliseconds. */
  readonly quiet: number
  /** How long it has to get to the state of the undisturbed run, in milliseconds. */
  readonly patience: number
}

/** How long a process may take until its first request, in milliseconds. */
const startPatience = 60_000
const tick = 50
/** How long a process that watches, or does not watch, is idle when it is ready, in milliseconds. */
const settleTime = 300
const unwatchedTime = 10_000
/** How much longer undisturbed runs wait: what others are compared with has to be complete. */
const undisturbedFactor = 3
/** More ends of the process than faults can explain. */
const mostExits = 10

/** Plays the scenario once against a process, on a cluster of its own with all controllers and a node. */
export async function performTorture(
  stage: TortureStage,
  plan: Plan,
  baseline?: Baseline,
): Promise<TortureRun> {
  await using cluster = await startCluster({ nodes: 1, controllers: '*', log: silentLogger })
  const run = await beginRun(stage, cluster, plan)
  try {
    return await playRun(run, plan, baseline)
  } finally {
    await run.process.stop()
  }
}

interface Run {
  readonly stage: TortureStage
  readonly cluster: Cluster
  readonly clock: Clock
  readonly server: FaultyServer
  readonly process: OperatorProcess
}

async function beginRun(stage: TortureStage, cluster: Cluster, plan: Plan): Promise<Run> {
  const kubeconfig = await cluster.kubeconfig()
  const { clock } = cluster.env
  let server: FaultyServer
  const process = new OperatorProcess({
    command: stage.command.map(part => part.replaceAll('{kubeconfig}', kubeconfig)),
    env: { ...stage.env, KUBECONFIG: kubeconfig },
    onStart: staleRevision => {
      server.connect(staleRevision)
      server.log.trace.push({ entry: 'start', time: server.log.time, replica: 1 })
    },
    onStop: () => server.log.trace.push({ entry: 'stop', time: server.log.time, replica: 1 }),
  })
  server = new FaultyServer({
    clock,
    faults: plan.faults as readonly TortureFault[],
    revision: () => cluster.store.revisionNow?.() ?? 0,
    process,
  })
  // Only what comes over the socket has a certificate in bytes.
  cluster.intercept((request, next) => (request.peer?.raw ? server.handle(request, next) : next(request)))
  return { stage, cluster, clock, server, process }
}

async function playRun(run: Run, plan: Plan, baseline: Baseline | undefined): Promise<TortureRun> {
  const { stage, cluster, server, process } = run
  const { log } = server
  const failures: { oracle: 'scenario' | 'settles'; message: string }[] = []
  const checkpoints: {
    name: CheckpointName
    state: Snapshot
    idleWrites: number
    outdated: readonly string[]
    written: readonly string[]
  }[] = []
  const definitions = stage.steps.flatMap(({ objects }) => objects.filter(isDefinition))
  if (definitions.length > 0) await cluster.apply(definitions, { force: true })
  const resources = await scenarioResources(run)
  const check = async (name: CheckpointName) => {
    const usual = baseline?.result.checkpoints.find(each => each.name === name)
    const mask = baseline?.masks.get(name) ?? new Set<string>()
    const refs = () =>
      resourcesOf([...resources, ...writtenResources([...(baseline?.result.writes ?? []), ...log.writes])])
    let state = await takeSnapshot(cluster.client, refs())
    const begun = run.clock.monotonic()
    while (
      usual &&
      compareSnapshots(usual.state, state, mask).length > 0 &&
      run.clock.monotonic() - begun < stage.patience
    ) {
      await run.clock.sleep(250)
      state = await takeSnapshot(cluster.client, refs())
    }
    const writes = log.writes.length
    await run.clock.sleep(1_000)
    // Where an operator leaves objects behind on purpose is not known of a process.
    checkpoints.push({ name, state, idleWrites: log.writes.length - writes, outdated: [], written: [] })
  }

  process.start()
  await untilConnected(run)
  for (const step of stage.steps) {
    const objects = step.objects.filter(object => !isDefinition(object))
    if (objects.length === 0) continue
    log.trace.push({ entry: 'action', time: log.time, text: `${step.action} ${step.name}` })
    try {
      if (step.action === 'apply') await cluster.apply(objects, { force: true })
      else await deleteObjects(cluster, objects)
    } catch (error) {
      failures.push({
        oracle: 'scenario',
        message: `${step.name}: ${error instanceof Error ? error.message : String(error)}`,
      })
      break
    }
    await untilQuiet(run)
  }
  await check('end')
  log.isArmed = false
  if (!baseline) {
    await process.restart()
    await untilConnected(run)
    await untilQuiet(run)
    await check('restart')
  }
  const created = stage.steps.filter(({ action }) => action === 'apply').flatMap(({ objects }) => objects)
  await deleteObjects(
    cluster,
    created.filter(object => !isDefinition(object) && object.kind !== 'Namespace'),
  )
  await untilQuiet(run)
  await check('deletion')
  if (process.failure)
    throw new Error(`${stage.command[0]} cannot be started: ${process.failure.message}`, {
      cause: process.failure,
    })
  if (process.exits > mostExits)
    failures.push({ oracle: 'settles', message: `the process ended by itself ${process.exits} times` })
  if (log.isFlooded)
    failures.push({ oracle: 'settles', message: 'it never comes to rest: it has written 2,000 times' })
  const { trace, writes, events } = log
  const counts = { reads: 0, pods: 0, calls: 0, webhookCalls: 0 }
  const result = {
    plan,
    trace,
    writes,
    events,
    counts,
    checkpoints,
    struck: log.struck.size,
    failures,
    output: process.output,
  }
  return result
}

const isDefinition = ({ kind }: ManifestObject): boolean => kind === CustomResourceDefinition.kind

/** Until it watches the custom resources of the scenario (one that watches nothing is idle for a while), and has been idle for a moment. */
async function untilConnected({ stage, clock, server, process }: Run): Promise<void> {
  const begun = clock.monotonic()
  const before = server.requests
  const definitions = stage.steps.flatMap(({ objects }) => objects.filter(isDefinition))
  const expected = definitions.map(({ metadata }) => {
    const [resource = '', ...group] = metadata.name.split('.')
    return resourceOf({ group: group.join('.'), resource })
  })
  const isWatching = () => server.watched.size > 0 && expected.every(resource => server.watched.has(resource))
  for (let idle = 0, last = before; idle < (isWatching() ? settleTime : unwatchedTime); ) {
    if (process.failure) throw new Error(`${stage.command[0]} cannot be started: ${process.failure.message}`)
    if (
      server.requests === before &&
      (clock.monotonic() - begun > startPatience || process.exits > mostExits)
    )
      throw new Error(
        [
          `${stage.command.join(' ')} sent no request to the API server; it printed last:`,
          ...process.output,
        ].join('\n'),
      )
    await clock.sleep(tick)
    idle = server.requests === last && server.requests > before ? idle + tick : 0
    last = server.requests
  }
}

async function untilQuiet({ stage, clock, server }: Run): Promise<void> {
  const quiet = server.log.faults.length === 0 ? stage.quiet * undisturbedFactor : stage.quiet
  const begun = clock.monotonic()
  for (;;) {
    await clock.sleep(tick)
    const now = clock.monotonic()
    if (now - Math.max(server.lastWrite, begun) >= quiet || now - begun > stage.patience) return
  }
}

async function scenarioResources({ stage, cluster }: Run): Promise<ResourceRef[]> {
  const discovery = createDiscovery(cluster.client)
  const kinds = new Map(
    stage.steps
      .flatMap(({ objects }) => objects)
      .filter(object => !isDefinition(object))
      .map(({ apiVersion, kind }) => [`${apiVersion} ${kind}`, { apiVersion, kind }]),
  )
  return await Promise.all(
    [...kinds.values()].map(({ apiVersion, kind }) => discovery.kindOf(apiVersion, kind)),
  )
}

function writtenResources(writes: readonly WriteRecord[]): ResourceRef[] {
  return writes
    .filter(({ status }) => status !== undefined && status < 300)
    .map(({ path }) => parseApiPath(path))
}

function resourcesOf(refs: readonly ResourceRef[]): ResourceRef[] {
  const byName = new Map(
    refs.map(({ group, version, resource }) => [
      resourceOf({ group, resource }),
      { group, version, resource },
    ]),
  )
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref)
}
