import { type KindSelector, resourceName, selectResources } from '@coxswain/api'
import { createApiServer, defaultAuthorizer, unionAuthorizer } from '@coxswain/apiserver'
import { type Client, createClient } from '@coxswain/client'
import { type ControllerSelector, ResourceKinds } from '@coxswain/controllers'
import { createRealEnv, type Env, type Logger, silentLogger, TaskGroup, VirtualWorld } from '@coxswain/kit'
import type { ImageFunction } from '@coxswain/kubelet'
import {
  conversionsOf,
  describeOperator,
  type InstalledKind,
  installKinds,
  type ManagerOptions,
  type Operator,
  type ReconcileRecord,
  runOperator,
} from '@coxswain/runtime'
import { createScheduler, type SchedulerOptions } from '@coxswain/scheduler'
import { createMemoryStore, type MemoryDisk, type MemoryStore } from '@coxswain/storage'
import {
  createInProcessTransport,
  type Handler,
  type Transport,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import { type ClusterExpectations, createExpectations } from './expect/expectations.ts'
import { ReconcileLog } from './expect/reconcile-log.ts'
import { Activity } from './internal/activity.ts'
import {
  chooseControllers,
  createControllers,
  createDefaultAccount,
  createNodes,
  waitUntilReady,
} from './internal/control-plane.ts'
import { ControllersAsNeeded } from './internal/controllers-as-needed.ts'
import { RestartableServer } from './internal/restartable-server.ts'
import { testServiceAccounts } from './internal/service-account-keys.ts'
import { Switchboard } from './internal/switchboard.ts'
import { administrator, type ClusterUser, operatorUser, peerOf } from './internal/users.ts'
import { type ServedSnapshot, WrittenResources } from './internal/written-resources.ts'
import { type Applied, type ApplyManifestsOptions, applyManifests } from './manifests/apply-manifests.ts'
import type { Manifests } from './manifests/manifest.ts'
import { loadPlatform } from './node/load-platform.ts'
import { openPort } from './node/open-port.ts'
import { createPrintingLogger } from './node/print-log.ts'
import type { ServedCluster } from './node/serve-cluster.ts'
import { ClusterRights } from './rights/cluster-rights.ts'

/** Options of {@link startCluster}. */
export interface ClusterOptions {
  /** Where time and order come from: a `VirtualWorld` makes every run repeatable. @default the real world */
  readonly env?: Env
  /**
   * The built-in kinds that are served: `'generic'` for those that know nothing of Pods, or a list of names such as
   * `deployments.apps`. @default all
   */
  readonly kinds?: KindSelector | readonly KindSelector[]
  /**
   * Which controllers run: `'*'` for all, `'as-needed'` for all but each from the first write on to what it works on, a list as kube-controller-manager's `--controllers` takes it, `true` for garbage collection,
   * namespace deletion and default service accounts, `false` for none. @default true; with nodes `'*'`
   */
  readonly controllers?: boolean | '*' | 'as-needed' | readonly ControllerSelector[]
  /** Whether Pods are scheduled, or how. @default where there are nodes */
  readonly scheduler?: boolean | SchedulerOptions
  /** Nodes that run Pods: `node-1`, `node-2`, ... Containers are simulated unless `images` has their image. @default 0 */
  readonly nodes?: number
  /** Functions that are containers of this process, by image: `image: greeter` runs `greeter`. */
  readonly images?: Readonly<Record<string, ImageFunction>>
  /** Freeze what the caches of operators hold, so that code that changes it gets a TypeError. @default true */
  readonly freeze?: boolean
  /**
   * What operators that are started log; `silentLogger` for nothing. @default that of `env`; where it is silent, warnings and
   * errors are printed on standard error
   */
  readonly log?: Logger
  /**
   * Starts with the objects of another cluster instead of those of a new one; the clock has to show its time, or a later one. To
   * be fast, the server has no priority and fairness, and garbage collection watches a resource from the first write to it on.
   */
  readonly from?: ClusterSnapshot
}

/** The objects of a cluster at one time: any number of clusters can start from it, and none changes it. */
export interface ClusterSnapshot {
  /** What the clock showed, for the `start` of a `VirtualWorld`. */
  readonly time: number
  readonly disk: MemoryDisk
  /** What was served, and the resources that had been written. */
  readonly resources: ServedSnapshot
}

/** Options of a cluster's `start`. */
export interface StartOptions extends Omit<ManagerOptions, 'client' | 'transport' | 'env'> {
  /**
   * Who the operator is to the API server, so that its RBAC rules count. @default an administrator; where the project has an
   * `rbac.lock.json`, a service account with these rights
   */
  readonly as?: ClusterUser
  /** Wraps the connection of this operator, for example with `createFaultyTransport`. */
  readonly transport?: (connection: Transport) => Transport
  /** Where its time and order come from, for example those of a `PausableProcess`. @default the cluster's */
  readonly env?: Env
  /** Wraps what answers the API server's calls of its webhooks, for example to let them fail. */
  readonly webhookHandler?: (handler: Handler) => Handler
  /** Called with the error that it ends with by itself, as with a lost lease. @default the error ends the cluster */
  readonly onFailure?: (error: unknown) => void
}

/** Answers a request in place of the server, changes it, or hands it on to `next`. */
export type Interceptor = (request: WireRequest, next: Handler) => Promise<WireResponse>

/** A control plane in the process of the test. Disposing it stops everything that runs in it. */
export interface Cluster extends ClusterExpectations, AsyncDisposable {
  /** An administrator's client. On a virtual world its promises settle while the world is driven: see `run`. */
  readonly client: Client
  readonly env: Env
  readonly store: MemoryStore
  /** What answers requests, interceptors included: for transports of one's own. */
  readonly handler: Handler
  /** A connection, as an administrator unless another user is named. */
  connect(user?: ClusterUser): Transport
  /** A client as another user or a service account: RBAC decides what it may do. */
  as(user: ClusterUser): Client
  /**
   * Applies manifests server-side: a file, a folder with all that is below it, YAML text, objects, or several of these. Everything is
   * read before anything is written. CustomResourceDefinitions come first and are waited for, then Namespaces, then the rest in
   * its order; what fails for a reason that passes is tried again.
   */
  apply(manifests: Manifests, options?: ApplyManifestsOptions): Promise<readonly Applied[]>
  /**
   * Applies the definitions of the kinds that an operator reconciles or has webhooks for, conversions included: those are
   * answered once the operator was started.
   */
  install(operator: Operator): Promise<readonly InstalledKind[]>
  /**
   * Runs an operator, its webhooks included, until the cluster is disposed of or the function it returns is called, which may be from an
   * interceptor: one that holds a request of this operator must not wait for it.
   */
  start(operator: Operator, options?: StartOptions): () => Promise<void>
  /** Awaits a promise, driving the world when it is a virtual one; within another `run` that one drives. */
  run<T>(promise: Promise<T>): Promise<T>
  /**
   * Lets everything that can happen now happen. On a virtual world: until nothing is left to do at the present time. On
   * the real clock: until the server has received no request for a tenth of a second; rejects after ten seconds.
   */
  settle(): Promise<void>
  /** Moves the clock. Virtual worlds only. */
  advance(ms: number): Promise<void>
  /** Intercepts every request to the server until it is disposed of; the latest runs first. */
  intercept(interceptor: Interceptor): Disposable
  /** The present objects, for `from` of other clusters: much faster than to install and create the same again. */
  snapshot(): Promise<ClusterSnapshot>
  /** Stops the API server, keeps it away for `downtime` milliseconds, and starts it anew on the same store. */
  restart(downtime?: number): Promise<void>
  /**
   * The path of a kubeconfig for an administrator. The first call opens a port on 127.0.0.1 with TLS, so that kubectl and
   * any other program can join in; the file and the port last as long as the cluster. Node.js only.
   */
  kubeconfig(): Promise<string>
}

/**
 * Starts a cluster and resolves when it is ready: a Pod can be created in `default`, if Pods are served, and nodes are ready
 * to run it.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { env = createRealEnv(), nodes = 0, freeze = true, scheduler = nodes > 0 } = options
  const kinds = typeof options.kinds === 'string' ? [options.kinds] : (options.kinds ?? ['all'])
  const resources = new Set(selectResources(kinds).map(resourceName))
  const serves = (resource: string) => resources.has(resource)
  if (nodes > 0 && !(serves('pods') && serves('nodes')))
    throw new Error('nodes run Pods: start the cluster with all kinds, or with pods and nodes among them')
  const controllers = chooseControllers(options.controllers, nodes, serves)
  const kubelet = createNodes(nodes, options.images, env)
  const world = env instanceof VirtualWorld ? env : undefined
  let served: ServedCluster | undefined
  const requireWorld = (): VirtualWorld => {
    if (!world)
      throw new Error('the clock of this cluster is the real one: start it with env: new VirtualWorld()')
    return world
  }
  /** Requests from outside drive the world as well: one at a time. */
  const drive = async <T>(work: (world: VirtualWorld) => Promise<T>): Promise<T> => {
    await served?.idle()
    return await work(requireWorld())
  }
  const run = async <T>(promise: Promise<T>): Promise<T> =>
    world ? await runWithin(world, promise, () => served?.idle()) : await promise
  const { from } = options
  const store = createMemoryStore({ env, ...(from && { disk: from.disk.copy() }) })
  const group = new TaskGroup()
  const authentication = { serviceAccounts: testServiceAccounts }
  const outbound = new Switchboard(env)
  const platform = await loadPlatform()
  const rights = new ClusterRights()
  const authorizer = unionAuthorizer([rights.authorizer, defaultAuthorizer])
  const server = new RestartableServer(
    () =>
      createApiServer({
        env,
        store,
        kinds,
        authentication,
        authorizer,
        outbound,
        platform: platform.server,
        ...(from && { isBootstrapped: true, limits: { priorityAndFairness: false } }),
        ...(kubelet && { nodes: { connection: kubelet.connection } }),
      }),
    group,
  )
  await run(server.start())

  const activity = new Activity(env.clock)
  const interceptors: Interceptor[] = []
  const passOn = (index: number, request: WireRequest): Promise<WireResponse> => {
    const interceptor = interceptors[index]
    return interceptor
      ? interceptor(request, inner => passOn(index - 1, inner))
      : activity.during(() => {
          written.note(request)
          return server.handler(request)
        })
  }
  const handler: Handler = request => passOn(interceptors.length - 1, request)
  const connect = (user?: ClusterUser) =>
    createInProcessTransport(handler, env, { peer: user === undefined ? administrator : peerOf(user) })
  const clientOf = (userAgent: string, transport: Transport = connect()) =>
    createClient({ env, userAgent, transport })
  const client = clientOf('test/0.1')
  const written = new WrittenResources(from?.resources ?? { served: [], written: [] }, {
    kinds: new ResourceKinds(clientOf('kube-controller-manager/0.1')),
    clock: env.clock,
    onWrite: resource => asNeeded?.need(resource),
  })
  const log = options.log ?? (env.log === silentLogger ? createPrintingLogger() : env.log)
  const reconciles = new ReconcileLog()
  const startWith = (
    operator: Operator,
    { onFailure, ...managerOptions }: ManagerOptions & Pick<StartOptions, 'onFailure'>,
  ) => {
    const inner = new TaskGroup(group.signal)
    inner.spawn(async signal => {
      const definition = describeOperator(operator)
      const onReconcile = (record: ReconcileRecord) => {
        reconciles.add(definition, record)
        managerOptions.onReconcile?.(record)
      }
      await runOperator(operator, { freeze, ...managerOptions, onReconcile, signal })
    })
    group.spawn(() => (onFailure ? inner.join().catch(onFailure) : inner.join()))
    return async () => {
      inner.abort()
      await run(inner.join())
    }
  }
  const start = (operator: Operator, startOptions: StartOptions = {}) => {
    const {
      as,
      transport: wrap = (connection: Transport) => connection,
      env: own = env,
      webhookHandler,
      ...rest
    } = startOptions
    const listener = outbound.listenerFor(operator.name, webhookHandler)
    const userAgent = `${operator.name}/0.1`
    const project = platform.findProjectRights()
    const user = as ?? (project && operatorUser(operator))
    let transport = wrap(connect(user))
    if (project && user !== undefined) {
      const name = peerOf(user).commonName
      rights.add(name, {
        project,
        operator,
        decides: as === undefined,
        electionNamespace: rest.leaderElection?.namespace,
      })
      transport = rights.transport(transport, project)
      const { onReconcile } = rest
      rest.onReconcile = record => {
        rights.noteReconcile(name, record.key)
        onReconcile?.(record)
      }
    }
    return startWith(operator, {
      webhooks: { listener },
      ...rest,
      client: createClient({ env: own, userAgent, transport }),
      env: { ...own, log: own === env ? log : own.log },
    })
  }
  const startBuiltIn = (operator: Operator) =>
    startWith(operator, {
      client: clientOf(`${operator.name}/0.1`),
      env: options.log ? { ...env, log } : env,
      errorEvents: false,
    })
  const asNeeded =
    options.controllers === 'as-needed'
      ? new ControllersAsNeeded(names =>
          startBuiltIn(createControllers(names, { serves, ...(from && { collected: written }) })),
        )
      : undefined
  if (!from && (asNeeded || controllers.includes('serviceaccount-controller')))
    await run(createDefaultAccount(clientOf('kube-controller-manager/0.1')))
  if (controllers.length > 0)
    startBuiltIn(createControllers(controllers, { serves, ...(from && { collected: written }) }))
  if (kubelet) startBuiltIn(kubelet.operator)
  if (scheduler) startBuiltIn(createScheduler(scheduler === true ? {} : scheduler))
  await run(waitUntilReady(client, env, { controllers, nodes }))
  let outside: Promise<ServedCluster> | undefined

  return {
    ...createExpectations({ client, env, run, reconciles }),
    client,
    env,
    store,
    handler,
    connect,
    as: user => clientOf('test/0.1', connect(user)),
    apply: (manifests, applyOptions = {}) => run(applyManifests({ client, env, ...applyOptions }, manifests)),
    install: operator => {
      const { webhooks: definitions } = describeOperator(operator)
      const conversions = conversionsOf({ definitions, address: outbound.addressOf(operator.name) })
      const conversionFor = async (name: string) => ({ conversion: conversions.get(name)! })
      return run(installKinds(clientOf('install/0.1'), [operator], { conversionFor }))
    },
    start,
    run,
    settle: () => (world ? drive(() => world.settle()) : activity.ceased()),
    advance: ms => drive(each => each.advance(ms)),
    intercept: interceptor => {
      interceptors.push(interceptor)
      return { [Symbol.dispose]: () => void interceptors.splice(interceptors.indexOf(interceptor), 1) }
    },
    snapshot: async () => {
      const { resources: served } = await run(new ResourceKinds(client).refresh())
      const resources = { served, written: [...written.names] }
      return { time: env.clock.now(), disk: store.disk.copy(), resources }
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
      for (const recording of rights.recordings) platform.saveRecording(recording)
      rights.check()
    },
  }
}

/** Drives the world until the promise settles; while another call drives it, that one carries the promise along. */
async function runWithin<T>(
  world: VirtualWorld,
  promise: Promise<T>,
  idle: () => Promise<void> | undefined,
): Promise<T> {
  let settled = false
  const mark = () => {
    settled = true
  }
  const marked = promise.then(mark, mark)
  while (!settled) {
    if (world.driven) await Promise.race([marked, world.driven])
    else {
      await idle()
      if (!world.driven) return await world.run(promise)
    }
  }
  return await promise
}
