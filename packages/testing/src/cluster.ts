import { type ApiServer, createApiServer } from '@coxswain/apiserver'
import { type Client, createClient } from '@coxswain/client'
import {
  createGarbageCollector,
  createNamespaceController,
  createNodeLifecycleController,
  createServiceAccountController,
} from '@coxswain/controllers'
import { createRealEnv, type Env, type Logger, silentLogger, TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createSimulatedNodes } from '@coxswain/kubelet'
import {
  conversionsOf,
  describeOperator,
  type InstalledKind,
  installKinds,
  type ManagerOptions,
  type Operator,
  runOperator,
} from '@coxswain/runtime'
import { createScheduler } from '@coxswain/scheduler'
import { createMemoryStore, type MemoryStore } from '@coxswain/storage'
import {
  createInProcessTransport,
  type Handler,
  type PeerCertificate,
  type Transport,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import { Activity } from './internal/activity.ts'
import { testServiceAccounts } from './internal/service-account-keys.ts'
import { Switchboard } from './internal/switchboard.ts'
import { loadPlatform } from './node/load-platform.ts'
import { openPort } from './node/open-port.ts'
import { createPrintingLogger } from './node/print-log.ts'
import type { ServedCluster } from './node/serve-cluster.ts'

export interface ClusterOptions {
  /** Where time and order come from: a `VirtualWorld` makes every run repeatable. @default the real world */
  readonly env?: Env
  /** Whether garbage collection, namespace deletion and default service accounts run. @default true */
  readonly controllers?: boolean
  /** Simulated nodes that run pods. @default 0 */
  readonly nodes?: number
  /** Freeze what the caches of operators hold, so that whoever changes it gets a TypeError. @default true */
  readonly freeze?: boolean
  /**
   * What operators that are started log; `silentLogger` for nothing. @default that of `env`; where it is silent, warnings and
   * errors are printed on standard error
   */
  readonly log?: Logger
}

export type StartOptions = Omit<ManagerOptions, 'client' | 'transport' | 'env'>

/** Answers a request in place of the server, changes it, or hands it on to `next`. */
export type Interceptor = (request: WireRequest, next: Handler) => Promise<WireResponse>

/** A control plane in the process of the test. Disposing it stops everything that runs in it. */
export interface Cluster extends AsyncDisposable {
  /** An administrator's client. On a virtual world its promises settle while the world is driven: see `run`. */
  readonly client: Client
  readonly env: Env
  readonly store: MemoryStore
  /** What answers requests, interceptors included: for transports of one's own. */
  readonly handler: Handler
  /** A connection, as an administrator unless another user is named. */
  connect(user?: { readonly name: string; readonly groups?: readonly string[] }): Transport
  /**
   * Applies the definitions of the kinds that an operator reconciles or has webhooks for, conversions included: those are
   * answered once the operator was started.
   */
  install(operator: Operator): Promise<readonly InstalledKind[]>
  /** Runs an operator, its webhooks included, until the cluster goes, or until the function it returns is called. */
  start(operator: Operator, options?: StartOptions): () => Promise<void>
  /** Awaits a promise, driving the world when it is a virtual one. */
  run<T>(promise: Promise<T>): Promise<T>
  /**
   * Lets everything that can happen now happen. On a virtual world: until nothing is left to do at the present time. On
   * the real clock: until nobody has asked the server for anything for a tenth of a second; rejects after ten seconds.
   */
  settle(): Promise<void>
  /** Moves the clock. Virtual worlds only. */
  advance(ms: number): Promise<void>
  /** Stands between everybody and the server until it is disposed of; the latest is asked first. */
  intercept(interceptor: Interceptor): Disposable
  /** Stops the API server, keeps it away for `downtime` milliseconds, and starts it anew on the same store. */
  restart(downtime?: number): Promise<void>
  /**
   * The path of a kubeconfig for an administrator. The first call opens a port on 127.0.0.1 with TLS, so that kubectl and
   * any other program can join in; the file and the port last as long as the cluster. Node.js only.
   */
  kubeconfig(): Promise<string>
}

const administrator: PeerCertificate = {
  commonName: 'kubernetes-admin',
  organizations: ['system:masters'],
  notAfter: Number.MAX_SAFE_INTEGER,
}

/** Starts a cluster and resolves when it is ready. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { env = createRealEnv(), controllers = true, nodes = 0, freeze = true } = options
  const world = env instanceof VirtualWorld ? env : undefined
  let served: ServedCluster | undefined
  /** Requests from outside drive the world as well: one at a time. */
  const drive = async <T>(work: (world: VirtualWorld) => Promise<T>): Promise<T> => {
    await served?.idle()
    return await work(requireWorld())
  }
  const run = async <T>(promise: Promise<T>): Promise<T> =>
    world ? await drive(() => world.run(promise)) : await promise
  const requireWorld = (): VirtualWorld => {
    if (!world)
      throw new Error('the clock of this cluster is the real one: start it with env: new VirtualWorld()')
    return world
  }
  const store = createMemoryStore({ env })
  const group = new TaskGroup()
  const authentication = { serviceAccounts: testServiceAccounts }
  const outbound = new Switchboard(env)
  const platform = await loadPlatform()
  const server = new RestartableServer(
    () => createApiServer({ env, store, authentication, outbound, platform }),
    group,
  )
  await run(server.start())

  const activity = new Activity(env.clock)
  const interceptors: Interceptor[] = []
  const passOn = (index: number, request: WireRequest): Promise<WireResponse> => {
    const interceptor = interceptors[index]
    return interceptor
      ? interceptor(request, inner => passOn(index - 1, inner))
      : activity.during(() => server.handler(request))
  }
  const handler: Handler = request => passOn(interceptors.length - 1, request)
  const transportOf = (peer: PeerCertificate) => createInProcessTransport(handler, env, { peer })
  const clientOf = (userAgent: string) =>
    createClient({ env, userAgent, transport: transportOf(administrator) })
  const log = options.log ?? (env.log === silentLogger ? createPrintingLogger() : env.log)
  const start = (operator: Operator, managerOptions: StartOptions = {}, as: Env = { ...env, log }) => {
    const inner = new TaskGroup(group.signal)
    const client = clientOf(`${operator.name}/0.1`)
    const webhooks = { listener: outbound.listenerFor(operator.name) }
    inner.spawn(signal =>
      runOperator(operator, { freeze, webhooks, ...managerOptions, client, env: as, signal }),
    )
    group.spawn(() => inner.join())
    return async () => {
      inner.abort()
      await run(inner.join())
    }
  }
  const startBuiltIn = (operator: Operator) =>
    start(operator, { errorEvents: false }, options.log ? { ...env, log } : env)
  if (controllers) {
    startBuiltIn(createGarbageCollector())
    startBuiltIn(createNamespaceController())
    startBuiltIn(createServiceAccountController())
  }
  if (nodes > 0) {
    startBuiltIn(createSimulatedNodes({ count: nodes }))
    startBuiltIn(createNodeLifecycleController())
    startBuiltIn(createScheduler())
  }
  let outside: Promise<ServedCluster> | undefined

  return {
    client: clientOf('test/0.1'),
    env,
    store,
    handler,
    connect: user =>
      transportOf(
        user ? { ...administrator, commonName: user.name, organizations: user.groups ?? [] } : administrator,
      ),
    install: operator => {
      const { webhooks: definitions } = describeOperator(operator)
      const conversions = conversionsOf({ definitions, address: outbound.addressOf(operator.name) })
      const conversionFor = async (name: string) => ({ conversion: conversions.get(name)! })
      return run(installKinds(clientOf('install/0.1'), [operator], { conversionFor }))
    },
    start: (operator, managerOptions) => start(operator, managerOptions),
    run,
    settle: () => (world ? drive(() => world.settle()) : activity.ceased()),
    advance: ms => drive(each => each.advance(ms)),
    intercept: interceptor => {
      interceptors.push(interceptor)
      return { [Symbol.dispose]: () => void interceptors.splice(interceptors.indexOf(interceptor), 1) }
    },
    restart: (downtime = 0) => run(server.restart(downtime, env)),
    kubeconfig: async () => {
      outside ??= openPort({ handler, log: env.log, ...(world && { world }) })
      served = await outside
      return served.kubeconfig
    },
    async [Symbol.asyncDispose]() {
      await (await outside)?.[Symbol.asyncDispose]()
      group.abort()
      await run(group.join())
      await run(store.close())
    },
  }
}

/** One API server after the other on the same store. While there is none, connections break. */
class RestartableServer {
  readonly #create: () => ApiServer
  readonly #group: TaskGroup
  #present: { readonly server: ApiServer; readonly tasks: TaskGroup } | undefined

  constructor(create: () => ApiServer, group: TaskGroup) {
    this.#create = create
    this.#group = group
  }

  readonly handler: Handler = request => {
    if (!this.#present) throw new Error('the server is down')
    return this.#present.server.handler(request)
  }

  async start(): Promise<void> {
    const server = this.#create()
    const tasks = new TaskGroup(this.#group.signal)
    tasks.spawn(signal => server.run(signal))
    this.#group.spawn(() => tasks.join())
    await server.ready
    this.#present = { server, tasks }
  }

  async restart(downtime: number, { clock }: Env): Promise<void> {
    const { tasks } = this.#present!
    this.#present = undefined
    tasks.abort()
    await tasks.join()
    if (downtime > 0) await clock.sleep(downtime, { signal: this.#group.signal })
    await this.start()
  }
}
