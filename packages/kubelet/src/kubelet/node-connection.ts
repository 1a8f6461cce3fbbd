import { newBadRequest, newNotFound, newTooManyRequests } from '@coxswain/apimachinery/status'
import type {
  ContainerRuntime,
  LogOptions,
  PortStream,
  ProcessIo,
  RunningContainer,
} from '../container-runtime.ts'
import { createKubeletApi, type NodeAnswer, type NodeRequest } from './kubelet-api.ts'
import type { PodWorker } from './pod-worker.ts'
import type { PodWorkers } from './pod-workers.ts'

/** The namespace and name of a Pod. */
export interface PodAddress {
  readonly namespace: string
  readonly name: string
}

/** The API server's requests to nodes. Rejections are `StatusError`s, for the client. */
export interface NodeConnection {
  /** Whether a node is one of this kubelet's. */
  hasNode(node: string): boolean
  /** Requests to the kubelet's own server on one of its nodes: `/healthz`, `/pods`, `/stats/summary`, ... */
  ask(node: string, request: NodeRequest): Promise<NodeAnswer>
  readLog(
    pod: PodAddress,
    container: string,
    options: LogOptions & { readonly previous: boolean },
  ): Promise<AsyncIterable<Uint8Array>>
  /** Resolves with the exit code. Rejects when the command cannot be started. */
  exec(pod: PodAddress, container: string, command: readonly string[], io: ProcessIo): Promise<number>
  /** Resolves when the container has ended. */
  attach(pod: PodAddress, container: string, io: ProcessIo): Promise<void>
  /** Rejects when nothing listens there. */
  dial(pod: PodAddress, port: number): Promise<PortStream>
}

export interface NodeConnectionOptions {
  readonly runtime: ContainerRuntime
  readonly nodes: ReadonlySet<string>
  readonly workers: PodWorkers
}

/** What the most common waiting reasons mean for a log request. */
const words: Readonly<Record<string, string>> = {
  __proto__: null as never,
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
}

/** The most concurrent commands and attachments. */
const maxSessions = 1_000

export function createNodeConnection({ runtime, nodes, workers }: NodeConnectionOptions): NodeConnection {
  const apis = new Map<string, ReturnType<typeof createKubeletApi>>()
  const workerOf = (pod: PodAddress): PodWorker => {
    const worker = workers.get(`${pod.namespace}/${pod.name}`)
    if (worker) return worker
    throw newNotFound({ group: '', resource: 'pods' }, pod.name)
  }
  const handleOf = (pod: PodAddress, container: string): RunningContainer => {
    const handle = workerOf(pod).findContainer(container)?.handle
    if (handle) return handle
    throw newNotFound({ group: '', resource: 'containers' }, container)
  }
  const podsOf = (node: string) => [...workers.ofNode(node)].map(({ pod }) => pod)
  let sessions = 0
  /** Limits the concurrent sessions of clients. */
  const inSession = async <T>(begin: () => Promise<T>): Promise<T> => {
    if (sessions >= maxSessions) throw newTooManyRequests(`the nodes already have ${maxSessions} sessions`, 1)
    sessions++
    try {
      return await begin()
    } finally {
      sessions--
    }
  }
  const connection: NodeConnection = {
    hasNode: node => nodes.has(node),
    async ask(node, request) {
      if (!nodes.has(node)) throw newNotFound({ group: '', resource: 'nodes' }, node)
      let api = apis.get(node)
      if (!api) {
        api = createKubeletApi({ node, runtime, pods: () => podsOf(node), readLog: connection.readLog })
        apis.set(node, api)
      }
      return await api(request)
    },
    async readLog(pod, container, options) {
      const worker = workerOf(pod)
      const record = worker.findContainer(container)?.record
      if (!record) throw newBadRequest(`container ${container} is not valid for pod ${pod.name}`)
      const { state, lastState, restartCount } = record
      const hasRun = state.running ?? state.terminated ?? lastState?.terminated
      if (options.previous && !lastState?.terminated) {
        throw newBadRequest(`previous terminated container "${container}" in pod "${pod.name}" not found`)
      }
      if (!hasRun) {
        const reason = state.waiting?.reason ?? 'ContainerCreating'
        throw newBadRequest(
          `container "${container}" in pod "${pod.name}" is waiting to start: ${words[reason] ?? reason}`,
        )
      }
      // During back-off the last attempt has no successor yet.
      const isCurrent = !options.previous || state.waiting !== undefined
      const attempt = isCurrent ? restartCount : restartCount - 1
      return runtime.readLog({ pod: worker.identity, name: container, attempt }, options)
    },
    exec: (pod, container, command, io) =>
      inSession(async () => await handleOf(pod, container).exec(command, io)),
    attach: (pod, container, io) => inSession(async () => await handleOf(pod, container).attach(io)),
    dial: async (pod, port) => await runtime.dial(workerOf(pod).identity, port),
  }
  return connection
}
