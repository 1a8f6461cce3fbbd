import { type Container, Pod } from '@coxswain/api/core/v1'
import { type DeepReadonly, formatTime } from '@coxswain/apimachinery'
import { defineOperator, type Operator, type ReconcileContext, requeueAfter } from '@coxswain/runtime'
import { keepNodesAlive, type NodeDescription } from './node-status.ts'

export interface SimulatedNodesOptions {
  /** @default 1 */
  readonly count?: number
  /** How long a container takes to start, in milliseconds. @default 500 */
  readonly startDelay?: number
  /** How long the containers of a pod run that is not to be restarted for ever. @default 2000 */
  readonly runTime?: number
  /** Images that cannot be had: containers that need one wait. @default none */
  readonly missingImages?: readonly string[]
}

const description: NodeDescription = {
  osImage: 'simulated',
  runtimeVersion: 'simulated://0.1.0',
  readyMessage: 'the simulated node is ready',
}

type ReadonlyPod = DeepReadonly<Pod>

/**
 * Nodes on which nothing really runs: pods that were given one of them start, get ready, and finish unless they are to
 * be restarted always.
 */
export function createSimulatedNodes(options: SimulatedNodesOptions = {}): Operator {
  const { count = 1, startDelay = 500, runTime = 2_000, missingImages = [] } = options
  const names = Array.from({ length: count }, (_, index) => `node-${index + 1}`)
  return defineOperator('simulated-nodes', operator => {
    operator.task('heartbeat', context => keepNodesAlive(context, names, description))
    operator
      .controller('simulated-node')
      .for(Pod)
      .options({ concurrency: 10 })
      .reconcile(async context => {
        const pod = await context.client.get(Pod, context.key)
        if (!pod) return
        if (!names.includes(pod.spec.nodeName ?? '')) return
        if (pod.metadata.deletionTimestamp) return await terminate(context)
        return await advance(context, pod, { startDelay, runTime, missingImages })
      })
  })
}

/** Nothing has to be stopped: the pod may go at once. */
async function terminate({ key, client }: ReconcileContext): Promise<void> {
  await client.delete(Pod, key, { gracePeriodSeconds: 0 })
}

async function advance(
  context: ReconcileContext,
  pod: ReadonlyPod,
  stages: Required<Omit<SimulatedNodesOptions, 'count'>>,
) {
  const { client, clock, events } = context
  const now = clock.now()
  const phase = pod.status?.phase
  if (phase === 'Succeeded' || phase === 'Failed') return
  if (phase !== 'Running') {
    const due = Date.parse(pod.metadata.creationTimestamp) + stages.startDelay
    if (due > now) return requeueAfter(due - now)
    const missing = pod.spec.containers.filter(({ image = '' }) => stages.missingImages.includes(image))
    if (missing.length > 0) return await waitForImages(context, pod, missing)
    await client.updateStatus(Pod, { ...pod, status: runningStatus(pod, formatTime(now)) })
    for (const { name } of pod.spec.containers) events.normal(pod, 'Started', `Started container ${name}`)
    return requeueAfter(stages.runTime)
  }
  if (pod.spec.restartPolicy === 'Always') return
  const started = Date.parse(pod.status?.startTime ?? '')
  const end = started + stages.runTime
  if (end > now) return requeueAfter(end - now)
  await client.updateStatus(Pod, { ...pod, status: finishedStatus(pod, formatTime(now)) })
}

/** They never come: the pod stays as a kubelet that gave up for now leaves it. */
async function waitForImages(
  { client, clock, events }: ReconcileContext,
  pod: ReadonlyPod,
  missing: readonly DeepReadonly<Container>[],
): Promise<void> {
  if (pod.status?.containerStatuses) return
  const waiting = (container: DeepReadonly<Container>): ContainerState =>
    missing.includes(container)
      ? { waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${container.image}"` } }
      : { waiting: { reason: 'ContainerCreating' } }
  const status = {
    ...runningStatus(pod, formatTime(clock.now())),
    phase: 'Pending' as const,
    conditions: conditionsOf(pod, false, formatTime(clock.now()), 'ContainersNotReady'),
    containerStatuses: pod.spec.containers.map(container => ({
      ...containerStatus(container, false, waiting(container)),
      imageID: '',
    })),
  }
  await client.updateStatus(Pod, { ...pod, status })
  for (const { image } of missing) {
    events.normal(pod, 'Pulling', `Pulling image "${image}"`)
    events.warning(pod, 'Failed', `Failed to pull image "${image}": it was said to be missing`)
    events.warning(pod, 'Failed', 'Error: ErrImagePull')
    events.normal(pod, 'BackOff', `Back-off pulling image "${image}"`)
    events.warning(pod, 'Failed', 'Error: ImagePullBackOff')
  }
}

function conditionsOf(pod: ReadonlyPod, ready: boolean, now: string, reason?: string) {
  const state = ready ? ('True' as const) : ('False' as const)
  const make = (type: string, status: 'True' | 'False') => ({
    type,
    status,
    lastTransitionTime:
      pod.status?.conditions?.find(found => found.type === type && found.status === status)
        ?.lastTransitionTime ?? now,
    ...(status === 'False' && reason !== undefined && { reason }),
  })
  return [
    make('PodReadyToStartContainers', state),
    make('Initialized', 'True'),
    make('Ready', state),
    make('ContainersReady', state),
    make('PodScheduled', 'True'),
  ]
}

type ContainerState = Record<string, Record<string, unknown>>

function containerStatus(
  { name, image = '' }: DeepReadonly<Container>,
  ready: boolean,
  state: ContainerState,
) {
  return {
    name,
    image,
    imageID: `simulated://${image}`,
    containerID: `simulated://${name}`,
    ready,
    started: ready,
    restartCount: 0,
    state,
  }
}

function runningStatus(pod: ReadonlyPod, now: string) {
  return {
    ...pod.status,
    phase: 'Running' as const,
    startTime: now,
    hostIP: '127.0.0.1',
    hostIPs: [{ ip: '127.0.0.1' }],
    podIP: addressOf(pod),
    podIPs: [{ ip: addressOf(pod) }],
    conditions: conditionsOf(pod, true, now),
    containerStatuses: pod.spec.containers.map(container =>
      containerStatus(container, true, { running: { startedAt: now } }),
    ),
  }
}

/** An address that nothing answers at, the same each time for the same pod and another for nearly every other. */
function addressOf({ metadata, spec }: ReadonlyPod): string {
  if (spec.hostNetwork) return '127.0.0.1'
  let hash = 0x811c9dc5
  for (let index = 0; index < metadata.uid.length; index++)
    hash = Math.imul(hash ^ metadata.uid.charCodeAt(index), 0x01000193) >>> 0
  return `10.${128 + ((hash >>> 16) & 63)}.${(hash >>> 8) & 255}.${hash & 255}`
}

function finishedStatus(pod: ReadonlyPod, now: string) {
  const terminated = {
    exitCode: 0,
    reason: 'Completed',
    startedAt: pod.status?.startTime ?? now,
    finishedAt: now,
  }
  return {
    ...pod.status,
    phase: 'Succeeded' as const,
    conditions: conditionsOf(pod, false, now, 'PodCompleted'),
    containerStatuses: pod.spec.containers.map(container =>
      containerStatus(container, false, { terminated }),
    ),
  }
}
