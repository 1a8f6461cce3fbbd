import { createApiServer } from '@coxswain/apiserver'
import { type Client, createClient } from '@coxswain/client'
import {
  createGarbageCollector,
  createNamespaceController,
  createServiceAccountController,
} from '@coxswain/controllers'
import { createRealEnv, type Env, TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createSimulatedNodes } from '@coxswain/node'
import { type ManagerOptions, type Operator, runOperator } from '@coxswain/runtime'
import { createMemoryStore, type MemoryStore } from '@coxswain/storage'
import { createInProcessTransport, type PeerCertificate, type Transport } from '@coxswain/wire'

export interface ClusterOptions {
  /** Where time and order come from: a `VirtualWorld` makes every run repeatable. @default the real world */
  readonly env?: Env
  /** Whether garbage collection, namespace deletion and default service accounts run. @default true */
  readonly controllers?: boolean
  /** Simulated nodes that run pods. @default 0 */
  readonly nodes?: number
}

/** A control plane in the process of the test, without sockets. Disposing it stops everything that runs in it. */
export interface Cluster extends AsyncDisposable {
  /** An administrator's client. On a virtual world its promises settle while the world is driven: see `run`. */
  readonly client: Client
  readonly env: Env
  readonly store: MemoryStore
  /** A connection of another user. */
  connect(user: { readonly name: string; readonly groups?: readonly string[] }): Transport
  /** Runs an operator until the cluster goes, or until the function it returns is called. */
  start(
    operator: Operator,
    options?: Omit<ManagerOptions, 'client' | 'transport' | 'env'>,
  ): () => Promise<void>
  /** Awaits a promise, driving the world when it is a virtual one. */
  run<T>(promise: Promise<T>): Promise<T>
  /** Lets everything that can happen now happen. Virtual worlds only. */
  settle(): Promise<void>
  /** Moves the clock. Virtual worlds only. */
  advance(ms: number): Promise<void>
}

const administrator: PeerCertificate = {
  commonName: 'kubernetes-admin',
  organizations: ['system:masters'],
  notAfter: Number.MAX_SAFE_INTEGER,
}

/** Starts a cluster and resolves when it is ready. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { env = createRealEnv(), controllers = true, nodes = 0 } = options
  const world = env instanceof VirtualWorld ? env : undefined
  const run = <T>(promise: Promise<T>): Promise<T> => (world ? world.run(promise) : promise)
  const requireWorld = (): VirtualWorld => {
    if (!world)
      throw new Error('the clock of this cluster is the real one: start it with env: new VirtualWorld()')
    return world
  }
  const store = createMemoryStore({ env })
  const server = createApiServer({ env, store })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await run(server.ready)

  const transportOf = (peer: PeerCertificate) => createInProcessTransport(server.handler, env, { peer })
  const clientOf = (userAgent: string) =>
    createClient({ env, userAgent, transport: transportOf(administrator) })
  const start: Cluster['start'] = (operator, managerOptions = {}) => {
    const inner = new TaskGroup(group.signal)
    const client = clientOf(`${operator.name}/0.1`)
    inner.spawn(signal => runOperator(operator, { ...managerOptions, client, env, signal }))
    group.spawn(() => inner.join())
    return async () => {
      inner.abort()
      await run(inner.join())
    }
  }
  if (controllers) {
    start(createGarbageCollector())
    start(createNamespaceController())
    start(createServiceAccountController())
  }
  if (nodes > 0) start(createSimulatedNodes({ count: nodes }))

  return {
    client: clientOf('test/0.1'),
    env,
    store,
    connect: ({ name, groups = [] }) =>
      transportOf({ ...administrator, commonName: name, organizations: groups }),
    start,
    run,
    settle: () => requireWorld().settle(),
    advance: ms => requireWorld().advance(ms),
    async [Symbol.asyncDispose]() {
      group.abort()
      await run(group.join())
      await run(store.close())
    },
  }
}
