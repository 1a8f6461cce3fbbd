import { Lease } from '@coxswain/api/coordination/v1'
import { type Container, Node, Pod } from '@coxswain/api/core/v1'
import { type DeepReadonly, formatMicroTime, formatTime } from '@coxswain/apimachinery'
import { retryOnConflict } from '@coxswain/client'
import type { Clock } from '@coxswain/kit'
import {
  defineOperator,
  type Operator,
  type OperatorClient,
  type ReconcileContext,
  requeueAfter,
} from '@coxswain/runtime'

export interface SimulatedNodesOptions {
  /** @default 1 */
  readonly count?: number
  /** How long a container takes to start, in milliseconds. @default 500 */
  readonly startDelay?: number
  /** How long the containers of a pod run that is not to be restarted for ever. @default 2000 */
  readonly runTime?: number
}

const leaseNamespace = 'kube-node-lease'
const leaseSeconds = 40
const heartbeat = 10_000

type ReadonlyPod = DeepReadonly<Pod>

/**
 * Nodes on which nothing really runs: pods that were given one of them start, get ready, and finish unless they are to
 * be restarted always.
 */
export function createSimulatedNodes(options: SimulatedNodesOptions = {}): Operator {
  const { count = 1, startDelay = 500, runTime = 2_000 } = options
  const names = Array.from({ length: count }, (_, index) => `node-${index + 1}`)
  return defineOperator('simulated-nodes', operator => {
    operator.task('heartbeat', async ({ client, env, signal }) => {
      // Others write to the same objects, and the server may be away: neither is a reason to give up.
      const attempt = async (what: (name: string) => Promise<void>) => {
        for (const name of names) {
          try {
            await retryOnConflict(env, () => what(name), { signal })
          } catch (error) {
            signal.throwIfAborted()
            env.log.warn('a node could not give its sign of life', { node: name, error })
          }
        }
      }
      await attempt(name => registerNode(client, env.clock, name))
      while (!signal.aborted) {
        await attempt(name => renewLease(client, env.clock, name))
        await env.clock.sleep(heartbeat, { signal })
      }
    })
    operator
      .controller('simulated-node')
      .for(Pod)
      .options({ concurrency: 10 })
      .reconcile(async context => {
        const pod = await context.client.get(Pod, context.key)
        if (!pod) return
        if (!names.includes(pod.spec.nodeName ?? '')) return
        if (pod.metadata.deletionTimestamp) return await terminate(context)
        return await advance(context, pod, { startDelay, runTime })
      })
  })
}

async function registerNode(client: OperatorClient, clock: Clock, name: string): Promise<void> {
  const existing = await client.get(Node, { name }, { cached: false })
  const node =
    existing ??
    (await client.create(Node, {
      metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' } },
    }))
  const resources = { cpu: '32', memory: '256Gi', pods: '110' }
  const now = formatTime(clock.now())
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  await client.updateStatus(Node, {
    ...node,
    status: {
      capacity: resources,
      allocatable: resources,
      addresses: [{ type: 'Hostname', address: name }],
      nodeInfo: {
        machineID: '',
        systemUUID: '',
        bootID: '',
        kernelVersion: '',
        osImage: 'simulated',
        containerRuntimeVersion: 'simulated://0.1.0',
        kubeletVersion: 'v1.36.4',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'the simulated node is ready',
          lastHeartbeatTime: now,
          lastTransitionTime: ready?.status === 'True' ? (ready.lastTransitionTime ?? now) : now,
        },
      ],
    },
  })
}

async function renewLease(client: OperatorClient, clock: Clock, name: string): Promise<void> {
  const renewTime = formatMicroTime(clock.now())
  const lease = await client.get(Lease, { namespace: leaseNamespace, name }, { cached: false })
  const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime }
  if (lease) await client.update(Lease, { ...lease, spec: { ...lease.spec, ...spec } })
  else await client.create(Lease, { metadata: { namespace: leaseNamespace, name }, spec })
}

/** Nothing has to be stopped: the pod may go at once. */
async function terminate({ key, client }: ReconcileContext): Promise<void> {
  await client.delete(Pod, key, { gracePeriodSeconds: 0 })
}

async function advance(
  context: ReconcileContext,
  pod: ReadonlyPod,
  stages: { readonly startDelay: number; readonly runTime: number },
) {
  const { client, clock, events } = context
  const now = clock.now()
  const phase = pod.status?.phase
  if (phase === 'Succeeded' || phase === 'Failed') return
  if (phase !== 'Running') {
    const due = Date.parse(pod.metadata.creationTimestamp) + stages.startDelay
    if (due > now) return requeueAfter(due - now)
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
    conditions: conditionsOf(pod, true, now),
    containerStatuses: pod.spec.containers.map(container =>
      containerStatus(container, true, { running: { startedAt: now } }),
    ),
  }
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
