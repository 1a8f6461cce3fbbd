import { ConfigMap, Pod, type PodStatus, Secret, ServiceAccount } from '@coxswain/api/core/v1'
import { type DeepReadonly, isConflict, isNotFound, type ObjectKey } from '@coxswain/apimachinery'
import type { Clock } from '@coxswain/kit'
import {
  createChannel,
  defineOperator,
  type Operator,
  type OperatorClient,
  type ReconcileContext,
  requeueAfter,
  type TaskContext,
} from '@coxswain/runtime'
import type { ContainerRuntime } from '../container-runtime.ts'
import { keepNodesAlive } from '../node-status.ts'
import { ImagePuller } from './image-puller.ts'
import { createNodeConnection, type NodeConnection } from './node-connection.ts'
import { PodWorker, type WorkerContext } from './pod-worker.ts'
import type { VolumeSources } from './volumes.ts'

export interface NodeAgentOptions {
  readonly runtime: ContainerRuntime
  /** How many nodes it is. @default 1 */
  readonly count?: number
  /** Where containers find what listens on their nodes. @default '127.0.0.1' */
  readonly address?: string
  /** Where containers find the API server, told to them in KUBERNETES_SERVICE_HOST and _PORT. @default nowhere */
  readonly apiServer?: () => Promise<{ readonly host: string; readonly port: number }>
}

export interface NodeAgent {
  readonly operator: Operator
  /** For the API server: logs, exec, attach and port-forward. */
  readonly connection: NodeConnection
}

/** How many Pods are looked after at once. */
const concurrency = 50
/** What is left of a Pod whose object is gone gets so long to end. */
const orphanGrace = 2_000
/** When the agent stops, containers get so long to end. */
const shutdownGrace = 2_000
/** How long tokens last that the agent asks for, unless the Pod says otherwise. */
const tokenSeconds = 3607
/** A token is renewed when this part of its life is over. */
const renewPart = 0.8

type ReadonlyPod = DeepReadonly<Pod>

/**
 * A kubelet for several nodes: runs the Pods that are bound to them on a runtime, and tells the API server how they are.
 *
 *   Pod (watch) -> reconcile -> PodWorker.sync -> ContainerRuntime
 *                                   status <-> exits, probes (channel -> reconcile)
 */
export function createNodeAgent(options: NodeAgentOptions): NodeAgent {
  const { runtime, count = 1, address = '127.0.0.1', apiServer } = options
  const names = Array.from({ length: count }, (_, index) => `node-${index + 1}`)
  /** By namespace and name: a Pod may have a successor of the same name only when it is gone. */
  const workers = new Map<string, PodWorker>()
  const tokens: TokenCache = new Map()
  const operator = defineOperator('node-agent', builder => {
    const wakes = createChannel()
    const started = Promise.withResolvers<WorkerContext>()
    started.promise.catch(() => {})
    builder.task('agent', async context => {
      const { client, env, events, signal } = context
      try {
        await runtime.start()
        const { items } = await client.list(Pod)
        await runtime.keepPods(new Set(items.map(({ metadata }) => metadata.uid)))
        const images = new ImagePuller(runtime, events, env.clock)
        const services = new Map<string, string>()
        if (apiServer) {
          const { host, port } = await apiServer()
          services.set('KUBERNETES_SERVICE_HOST', host)
          services.set('KUBERNETES_SERVICE_PORT', String(port))
          services.set('KUBERNETES_SERVICE_PORT_HTTPS', String(port))
        }
        const sourcesOf = (pod: ReadonlyPod) => createSources(client, env.clock, tokens, pod)
        started.resolve({
          env,
          runtime,
          events,
          images,
          hostIP: address,
          podIP: address,
          services,
          sourcesOf,
        })
        await keepNodesAlive(context, names, {
          osImage: runtime.name,
          runtimeVersion: `${runtime.name}://0.1.0`,
          readyMessage: 'kubelet is posting ready status',
          address,
        })
      } catch (error) {
        started.reject(error)
        if (!signal.aborted) throw error
      } finally {
        await Promise.all([...workers.values()].map(worker => worker.stop(shutdownGrace)))
        await runtime[Symbol.asyncDispose]()
      }
    })
    builder
      .controller('node-agent')
      .for(Pod)
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
          tokens.delete(worker.identity.uid)
          await runtime.removePod(worker.identity)
        }
        if (!pod || !names.includes(pod.spec.nodeName ?? '')) return
        let current = workers.get(id)
        if (!current) {
          const shared = await started.promise
          current = new PodWorker(pod, shared, () => wakes.send(key))
          workers.set(id, current)
        }
        return await bringForward(context, pod, current)
      })
  })
  const connection = createNodeConnection(runtime, ({ namespace, name }) =>
    workers.get(`${namespace}/${name}`),
  )
  return { operator, connection }
}

async function bringForward({ key, client, signal }: ReconcileContext, pod: ReadonlyPod, worker: PodWorker) {
  const wait = await worker.sync(pod)
  signal.throwIfAborted()
  // What was over before this agent came is only kept for its logs.
  if (worker.wasOver && !pod.metadata.deletionTimestamp) return
  const status = worker.status()
  try {
    const current = await writeStatus(client, pod, status)
    if (worker.isFinished && current.metadata.deletionTimestamp) {
      await client.delete(Pod, key, {
        gracePeriodSeconds: 0,
        preconditions: { uid: worker.identity.uid },
      })
    }
  } catch (error) {
    // Somebody else wrote first, or it is gone: the watch brings the news.
    if (isNotFound(error) || isConflict(error)) return requeueAfter(100)
    throw error
  }
  return wait === undefined ? undefined : requeueAfter(Math.max(0, wait))
}

async function writeStatus(
  client: OperatorClient,
  pod: ReadonlyPod,
  status: PodStatus,
): Promise<ReadonlyPod> {
  if (isSame(pod.status, status)) return pod
  return await client.updateStatus(Pod, { ...pod, status: status as DeepReadonly<PodStatus> } as ReadonlyPod)
}

/** Deep, whatever the order of fields; a field without a value is a field that is not there. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return (a ?? undefined) === (b ?? undefined)
  if (Array.isArray(a) !== Array.isArray(b)) return false
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  const at = (object: object, key: string): unknown => (object as Record<string, unknown>)[key]
  return [...keys].every(key => isSame(at(a, key), at(b, key)))
}

/** By Pod, then by audience and life: a token, and when another one is asked for. */
type TokenCache = Map<string, Map<string, { readonly token: string; readonly renewAt: number }>>

function createSources(
  { direct }: Pick<TaskContext['client'], 'direct'>,
  clock: Clock,
  tokens: TokenCache,
  pod: ReadonlyPod,
): VolumeSources {
  const { namespace = '', name, uid } = pod.metadata
  const key = (of: string): ObjectKey => ({ namespace, name: of })
  return {
    configMap: async of => await direct.get(ConfigMap, key(of)),
    secret: async of => await direct.get(Secret, key(of)),
    async token(audience, expirationSeconds = tokenSeconds) {
      const of = `${audience ?? ''} ${expirationSeconds}`
      const known = tokens.get(uid)?.get(of)
      if (known && clock.now() < known.renewAt) return known.token
      const account = pod.spec.serviceAccountName || 'default'
      const { status } = await direct
        .subresource(ServiceAccount, key(account), 'token')
        .create<{ status?: { token?: string } }>({
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: {
            audiences: audience ? [audience] : [],
            expirationSeconds,
            boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
          },
        })
      const token = status?.token ?? ''
      const own = tokens.get(uid) ?? new Map()
      tokens.set(uid, own.set(of, { token, renewAt: clock.now() + expirationSeconds * renewPart * 1000 }))
      return token
    },
  }
}
