import { Node, Pod, type PodStatus, Service } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import { isPodReady, nodeReadyCondition, type PodView } from '@coxswain/kinds'
import {
  createChannel,
  defineOperator,
  type ObjectEvent,
  type Operator,
  type OperatorClient,
  type ReconcileContext,
  requeueAfter,
  type TaskContext,
} from '@coxswain/runtime'
import type { ContainerRuntime, NodeFacts } from '../container-runtime.ts'
import { isMirrorPod } from '../mirror-pods/mirror-pod.ts'
import { keepNodesAlive } from '../node-status.ts'
import { ImagePuller } from './image-puller.ts'
import { createNodeConnection, type NodeConnection } from './node-connection.ts'
import { NodeLoad } from './node-load.ts'
import { PodAddresses } from './pod-addresses.ts'
import { type ClusterDns, makePodFiles } from './pod-files.ts'
import { PodWorker } from './pod-worker.ts'
import { PodWorkers } from './pod-workers.ts'
import { makeServiceVariables } from './service-variables.ts'
import { SharedSources } from './shared-sources.ts'
import type { WorkerContext } from './worker-context.ts'

/** Options of {@link createKubelet}. */
export interface KubeletOptions {
  readonly runtime: ContainerRuntime
  /** The number of nodes. @default 1 */
  readonly count?: number
  /** The address of the nodes. @default '127.0.0.1'; simulated nodes have one each */
  readonly address?: string
  /** Where containers reach the API server, for KUBERNETES_SERVICE_HOST and _PORT. @default the variables are not set */
  readonly apiServer?: () => Promise<{ readonly host: string; readonly port: number }>
  /** Where containers reach a Service, by its cluster IP; for service variables. @default at the cluster IP */
  readonly serviceAddress?: (clusterIP: string) => string
  /** The DNS server of containers; where it is undefined, they use the machine's. */
  readonly dns?: () => Promise<ClusterDns | undefined>
}

/** A kubelet: the operator that runs it, and its connection to the API server. */
export interface Kubelet {
  readonly operator: Operator
  /** For the API server: logs, exec, attach and port-forward. */
  readonly connection: NodeConnection
}

/** The number of Pods that are synced concurrently. */
const concurrency = 50
/** The grace period of a Pod whose object was deleted. */
const orphanGrace = 2_000
/** How long a lost node waits before it checks again whether its Pods may be ready. */
const lostNodeRetry = 5_000
/** The grace period of containers when the kubelet stops. */
const shutdownGrace = 2_000
const manyOfEverything: NodeFacts = {
  capacity: { cpu: '32', memory: '256Gi', 'ephemeral-storage': '1Ti', pods: '110' },
  osImage: 'Coxswain',
  kernelVersion: 'none',
}

/**
 * A kubelet for several nodes: runs the Pods that are bound to them on a runtime, and reports their status.
 *
 *   Pod (watch) -> reconcile -> PodWorker.sync -> ContainerRuntime
 *                                   status <-> starts, exits, probes (channel -> reconcile)
 */
export function createKubelet(options: KubeletOptions): Kubelet {
  const { runtime, count = 1 } = options
  const names = Array.from({ length: count }, (_, index) => `node-${index + 1}`)
  const known = new Set(names)
  /** By namespace and name: a Pod of the same name starts only after its predecessor has ended. */
  const workers = new PodWorkers()
  const isOurs = ({ spec }: PodView) => known.has(spec.nodeName ?? '')
  /** Ignores the Pods of other nodes, and the kubelet's own writes. */
  const isRelevant = (event: ObjectEvent<Pod>): boolean => {
    const { object } = event
    if (!isOurs(object)) return event.type === 'update' && isOurs(event.old)
    if (event.type !== 'update') return true
    const worker = workers.get(`${object.metadata.namespace}/${object.metadata.name}`)
    return worker?.written === undefined || worker.written !== object.metadata.resourceVersion
  }
  const operator = defineOperator('node-agent', builder => {
    const wakes = createChannel()
    const started = Promise.withResolvers<SharedParts>()
    started.promise.catch(() => {})
    workers.clear()
    builder.task('agent', async context => {
      const { client, env, signal } = context
      try {
        await runtime.start(env.clock)
        const { items } = await client.list(Pod)
        await runtime.keepPods(new Set(items.map(({ metadata }) => metadata.uid)))
        const shared = await createSharedParts(options, names, context, workers)
        started.resolve(shared)
        await keepNodesAlive(context, shared.nodes)
      } catch (error) {
        started.reject(error)
        if (!signal.aborted) throw error
      } finally {
        const leave = (worker: PodWorker) =>
          runtime.adoptContainer ? worker.abandon() : worker.stop(shutdownGrace)
        await Promise.all([...workers.values()].map(leave))
        await runtime[Symbol.asyncDispose]()
      }
    })
    builder
      .controller('node-agent')
      .for(Pod, { predicates: [isRelevant] })
      .channel(wakes)
      .options({ concurrency })
      .reconcile(async context => {
        const { key, client } = context
        const id = `${key.namespace}/${key.name}`
        const worker = workers.get(id)
        const pod = await client.get(Pod, key)
        if (worker && pod?.metadata.uid !== worker.identity.uid) {
          if (!worker.isFinished) {
            void worker.stop(orphanGrace)
            return
          }
          workers.delete(id)
          ;(await started.promise).forget(worker.pod)
          await runtime.removePod(worker.identity)
        }
        if (!pod || isMirrorPod(pod) || !isOurs(pod)) return
        let current = workers.get(id)
        if (!current) {
          const shared = await started.promise
          current = new PodWorker(pod, await shared.contextOf(client, pod), () => wakes.send(key))
          workers.set(id, current)
        }
        return await bringForward(context, pod, current, runtime)
      })
  })
  return { operator, connection: createNodeConnection({ runtime, nodes: known, workers }) }
}

interface SharedParts {
  readonly nodes: Parameters<typeof keepNodesAlive>[1]
  contextOf(client: OperatorClient, pod: PodView): Promise<WorkerContext>
  forget(pod: PodView): void
}

async function createSharedParts(
  options: KubeletOptions,
  names: readonly string[],
  { client, env, events }: TaskContext,
  workers: PodWorkers,
): Promise<SharedParts> {
  const { runtime, apiServer, serviceAddress = clusterIP => clusterIP } = options
  const { isSimulated = false, hasPodAddresses = isSimulated } = runtime
  const facts = runtime.describeNode?.() ?? manyOfEverything
  const { etc } = facts
  const sources = new SharedSources(client, env.clock, {
    makesTokens: !isSimulated,
    capacity: facts.capacity,
  })
  const podCIDRs = new Map<string, string>()
  const addresses = hasPodAddresses ? new PodAddresses(names, name => podCIDRs.get(name)) : undefined
  const own = apiServer && (await apiServer())
  const services = async ({ metadata, spec }: PodView): Promise<ReadonlyMap<string, string>> => {
    if (isSimulated) return new Map()
    const { items } =
      spec.enableServiceLinks === false
        ? { items: [] }
        : await client.list(Service, { namespace: metadata.namespace ?? '' })
    const first = own ? undefined : await client.get(Service, { namespace: 'default', name: 'kubernetes' })
    const variables = makeServiceVariables(first ? [...items, first] : items, serviceAddress)
    if (!own) return variables
    const { host, port } = own
    const spoken = { name: 'https', port, protocol: 'TCP' as const }
    const kubernetes = { metadata: { name: 'kubernetes' }, spec: { clusterIP: host, ports: [spoken] } }
    for (const [name, value] of makeServiceVariables([kubernetes], clusterIP => clusterIP))
      variables.set(name, value)
    return variables
  }
  const contexts = new Map<string, WorkerContext>()
  names.forEach((name, index) => {
    contexts.set(name, {
      env,
      runtime,
      events: events.from({ component: 'kubelet', host: name }),
      images: new ImagePuller(runtime, env.clock),
      hostIP: options.address ?? (hasPodAddresses ? simulatedAddress(index + 1) : '127.0.0.1'),
      ...(addresses && { addresses }),
      capacity: facts.capacity,
      load: new NodeLoad(facts.capacity),
      usedByOthers(uid, resource) {
        let sum = 0
        for (const worker of workers.ofNode(name))
          if (worker.identity.uid !== uid) sum += worker.given(resource)
        return sum
      },
      services,
      sourcesOf: pod => sources.forPod(pod),
      ...(etc && { filesOf: async pod => makePodFiles(pod, etc, await options.dns?.()) }),
    })
  })
  return {
    nodes: names.map(name => ({
      name,
      address: contexts.get(name)!.hostIP,
      runtimeVersion: `${runtime.name}://0.1.0`,
      facts,
      images: () => contexts.get(name)!.images.present,
    })),
    async contextOf(reader, pod) {
      const { nodeName = '' } = pod.spec
      if (addresses) {
        const podCIDR = (await reader.get(Node, { name: nodeName }))?.spec?.podCIDR
        if (podCIDR) podCIDRs.set(nodeName, podCIDR)
      }
      return contexts.get(nodeName)!
    },
    forget(pod) {
      sources.forget(pod.metadata.uid)
      addresses?.release(pod.metadata.uid)
      const { images, load } = contexts.get(pod.spec.nodeName ?? '') ?? {}
      images?.forget(pod)
      load?.release(pod.metadata.uid)
    },
  }
}

/** An address of the shared address space (RFC 6598), which is not routed outside. */
function simulatedAddress(index: number): string {
  return `100.64.${index >> 8}.${index & 255}`
}

async function bringForward(
  { key, client, clock, signal }: ReconcileContext,
  pod: PodView,
  worker: PodWorker,
  { isSimulated = false }: ContainerRuntime,
) {
  const began = clock.monotonic()
  const wait = await worker.sync(pod)
  signal.throwIfAborted()
  const { deletionTimestamp, finalizers = [] } = pod.metadata
  // A Pod that had ended before this kubelet started is only kept for its logs.
  if (worker.wasOver && !deletionTimestamp) return
  const again = (ms: number | undefined) =>
    ms === undefined ? undefined : requeueAfter(Math.max(0, ms - (clock.monotonic() - began)))
  const held = worker.holdsFor
  if (held > 0) return again(Math.min(held, wait ?? held))
  const remove = async () =>
    await client.delete(Pod, key, { gracePeriodSeconds: 0, preconditions: { uid: worker.identity.uid } })
  try {
    // The final status of a Pod would be deleted with the next write.
    if (worker.isFinished && deletionTimestamp && isSimulated && finalizers.length === 0) {
      await remove()
      return
    }
    const status = worker.status()
    if (!isPodReady(pod) && isPodReady({ status: status }) && (await isNodeLost(client, pod))) {
      return requeueAfter(lostNodeRetry)
    }
    const current = await writeStatus(client, pod, status)
    worker.markWritten(current.metadata.resourceVersion)
    if (worker.isFinished && current.metadata.deletionTimestamp) await remove()
  } catch (error) {
    // Another client wrote first, or it was deleted: a watch event follows.
    if (isNotFound(error) || isConflict(error)) return requeueAfter(100)
    throw error
  }
  return again(wait)
}

/**
 * Whether the node is considered lost: its Pods have been marked as not ready, and will be again until the node is
 * back. Writing the status of each Pod would only delay the node's own heartbeat.
 */
async function isNodeLost(client: OperatorClient, { spec }: PodView): Promise<boolean> {
  const node = await client.get(Node, { name: spec.nodeName ?? '' })
  return node !== undefined && nodeReadyCondition(node)?.status === 'Unknown'
}

async function writeStatus(client: OperatorClient, pod: PodView, status: PodStatus): Promise<PodView> {
  if (isSame(pod.status, status)) return pod
  return await client.updateStatus(Pod, { ...pod, status: status as DeepReadonly<PodStatus> } as PodView)
}

/** Deep equality, whatever the order of fields; an undefined field equals a missing one. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return (a ?? undefined) === (b ?? undefined)
  if (Array.isArray(a) !== Array.isArray(b)) return false
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  const at = (object: object, key: string): unknown => (object as Record<string, unknown>)[key]
  return [...keys].every(key => isSame(at(a, key), at(b, key)))
}
