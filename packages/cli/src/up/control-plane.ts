import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import type { Worker } from 'node:worker_threads'
import {
  type ApiServer,
  createApiServer,
  isHealthPath,
  isProxyPath,
  type NodeConnection,
} from '@coxswain/apiserver'
import { createYamlThread, verifySignature } from '@coxswain/apiserver/node'
import { type Env, type LogThreshold, TaskGroup } from '@coxswain/kit'
import { MetricsRegistry } from '@coxswain/kit/metrics'
import { abortOnSignals, registerProcessMetrics } from '@coxswain/kit/node'
import type { Operator } from '@coxswain/runtime'
import type { Store } from '@coxswain/storage'
import { createInProcessTransport, type Handler, type PeerCertificate } from '@coxswain/wire'
import {
  acceptSpdy,
  createWebSocketUpgrade,
  type HttpServer,
  nodeCompression,
  serve,
  socketDialer,
} from '@coxswain/wire/node'
import { CommandError, explainSystemError } from '../exit.ts'
import { createAdmissionSetup } from './access/admission.ts'
import { createAuthentication, keepAnonymousOut } from './access/authentication.ts'
import { allowsEverything, createAuthorization } from './access/authorization.ts'
import {
  refuseForeignKubeconfig,
  writeAdminKubeconfig,
  writeComponentKubeconfigs,
} from './access/kubeconfigs.ts'
import { ensureFrontProxyCa, ensureKubeletClientCertificate, ensurePki, type Pki } from './access/pki.ts'
import { serveControlSocket } from './control-socket.ts'
import { leaderElectionOf } from './loops/leader-election.ts'
import { nodeRangesOf } from './loops/node-ranges.ts'
import { startControlLoops } from './loops/start-control-loops.ts'
import { answerMirrorPods } from './nodes/answer-mirror-pods.ts'
import { createComponentChecks } from './nodes/component-health.ts'
import type { ComponentLogs } from './nodes/component-logs.ts'
import { createKubeletClient } from './nodes/kubelets.ts'
import { createLateConnection } from './nodes/late-connection.ts'
import { nodeNamesOf } from './nodes/node-names.ts'
import { type ControllerName, selectServerControllers } from './options/controller-names.ts'
import type { GivenOptions, UpOptions } from './options/up-options.ts'
import { socketOutbound } from './outbound.ts'

/** The identity of the control loops and operators in this process. */
const privilegedPeer: PeerCertificate = {
  commonName: 'system:coxswain',
  organizations: ['system:masters'],
  notAfter: Number.MAX_SAFE_INTEGER,
}

/** Reserved for documentation: the advertised address of a machine without a network. */
const unreachableAddress = '192.0.2.1'

/** The grace period of requests in progress, in milliseconds. */
const drainTime = 10_000

export interface ControlPlane {
  readonly options: UpOptions
  readonly given: GivenOptions
  readonly dataDir: string
  readonly env: Env
  /** The logs of the components. */
  readonly logs: ComponentLogs
  readonly logLevel: LogThreshold
  readonly controllers: readonly ControllerName[]
  /** The thread of the control loops, being loaded; undefined without controllers. */
  readonly worker: Worker | undefined
  /** The store, being opened while this module is loaded. */
  readonly opening: Promise<Store>
  /** Called when the server is serving. */
  readonly onReady: () => void
}

/** Serves until a signal stops it; resolves when everything has stopped. */
export async function runControlPlane({
  options,
  given,
  dataDir,
  env,
  logs,
  logLevel,
  controllers,
  worker,
  opening,
  onReady,
}: ControlPlane): Promise<void> {
  const leaderElection = leaderElectionOf(options, env)
  const nodeRanges = nodeRangesOf(options)
  await checkScheduler(options, env)
  const kubeconfig = resolve(options.kubeconfig ?? join(dataDir, 'kubeconfig'))
  await refuseForeignKubeconfig(kubeconfig)
  const files = options.operator ?? []
  const operators = await loadOperators(files)
  const pki = ensurePki(join(dataDir, 'pki'), env, options.serviceClusterIpRange)
  await using inner = await opening
  const { store, reload } = await encrypt(inner, options, env)
  const directory = join(dataDir, 'pki')
  const {
    options: authentication,
    clientCa,
    signingKeyFile,
  } = await createAuthentication((await allowsEverything(options)) ? keepAnonymousOut(options) : options, {
    directory,
    isAnonymousAuthGiven: given.has('anonymousAuth'),
    env,
    ca: pki.ca.certificate,
    ...(controllers.length === 0 && { frontProxyCa: ensureFrontProxyCa(directory, env) }),
  })
  await using audit = await loadAuditing(options, env)
  const kubelets = createKubeletClient(options, () => ensureKubeletClientCertificate(directory, env, pki.ca))
  const metrics = new MetricsRegistry()
  registerProcessMetrics(metrics)
  const nodeNames = new Set(controllers.length > 0 ? nodeNamesOf(options.nodes) : [])
  const [firstNode] = nodeNames
  let haveLoopsStarted = false
  const connected = Promise.withResolvers<NodeConnection>()
  const server = createApiServer({
    env,
    store,
    authentication,
    authorizer: await createAuthorization(options),
    admission: {
      ...(await createAdmissionSetup(options)),
      checkPolicyTypes: selectServerControllers(options.controllers).includes(
        'validatingadmissionpolicy-status-controller',
      ),
    },
    limits: {
      inFlight: { readOnly: options.maxRequestsInflight, mutating: options.maxMutatingRequestsInflight },
      priorityAndFairness: options.enablePriorityAndFairness === 'true',
    },
    nodes: {
      dialer: socketDialer,
      kubelets,
      ...(firstNode !== undefined && {
        connection: answerMirrorPods(createLateConnection(nodeNames, connected.promise), firstNode, logs),
        acceptSpdy,
      }),
    },
    network: {
      serviceClusterIpRange: options.serviceClusterIpRange,
      advertise: async () => ({ address: chooseAddress(), port: await boundPort }),
    },
    outbound: socketOutbound,
    ...(audit.auditing && { audit: audit.auditing }),
    metrics,
    components: createComponentChecks(controllers.length > 0, () => haveLoopsStarted),
    platform: { compression: nodeCompression, readLargeYaml: createYamlThread(), verifySignature },
  })
  using stop = abortOnSignals()
  await using group = new TaskGroup()
  // Stops before the server does, so that leases are released.
  const loops = new TaskGroup(group.signal)
  group.spawn(signal => server.run(signal))
  if (reload) group.spawn(reload)
  const listening = listen({ port: options.port, handler: server.handler, pki, clientCa, env })
  const boundPort = listening.then(({ port }) => port).catch(() => options.port)
  stop.signal.addEventListener('abort', () => {
    loops.abort(stop.signal.reason)
    const drained = listening.then(http => drain(http, server))
    Promise.allSettled([drained, loops.join()]).then(() => group.abort(stop.signal.reason))
  })
  await using http = await listening
  await server.ready
  await using _control = await serveControlSocket(dataDir, inner, env.log)
  await writeAdminKubeconfig(kubeconfig, http.url, pki)
  if (controllers.length === 0) await writeComponentKubeconfigs(dataDir, http.url, pki, env)
  // From here on the server has been running: its files are kept after a failure.
  onReady()
  if (worker || files.length > 0) {
    const connect = (options?: { readonly lendsAnswers: boolean }) =>
      createInProcessTransport(server.handler, env, { peer: privilegedPeer, ...options })
    const surroundings = { connect, env, group: loops }
    if (worker) {
      const nodes = await startControlLoops(surroundings, {
        worker,
        options,
        dataDir,
        port: http.port,
        address: chooseAddress(),
        nodeNames,
        loops: {
          controllers,
          ...(nodeRanges && { nodeRanges }),
          ...(leaderElection && { leaderElection }),
          rootCa: pki.ca.certificate,
          ca: pki.ca,
          signingKeyFile,
        },
      }).catch((error: unknown) => {
        if (!stop.signal.aborted) throw error
        return undefined
      })
      if (nodes) connected.resolve(nodes)
    }
    if (operators.length > 0) {
      const { startOperators } = await import('./start-operators.ts')
      await startOperators(operators, options, { ...surroundings, logLevel })
    }
    haveLoopsStarted = true
    group.spawn(() => loops.join())
  }
  if (!stop.signal.aborted)
    process.stdout.write(`coxswain is ready at ${http.url}, run: export KUBECONFIG=${kubeconfig}\n`)
  await group.join()
}

/** Closes connections and drains requests, before the handlers stop. */
async function drain(http: HttpServer, server: ApiServer): Promise<void> {
  const closed = http.close({ grace: drainTime })
  server.drain()
  await closed
}

/** The code of encryption is loaded on demand. */
async function encrypt(
  store: Store,
  options: UpOptions,
  env: Env,
): Promise<{ readonly store: Store; readonly reload?: (signal: AbortSignal) => Promise<void> }> {
  const { encryptionProviderConfig: file, encryptionProviderConfigAutomaticReload: mayReload } = options
  if (file === undefined) return { store }
  const { encryptStore } = await import('./access/encryption.ts')
  const encrypted = encryptStore(store, file, env)
  return mayReload ? encrypted : { store: encrypted.store }
}

/** The framework is loaded here only for operators. */
async function loadOperators(files: readonly string[]): Promise<readonly Operator[]> {
  return files.length === 0 ? [] : await (await import('../operators.ts')).loadOperators(files)
}

/** The scheduler flags are validated before anything is started; they are loaded again where the scheduler runs. */
async function checkScheduler(options: UpOptions, env: Env): Promise<void> {
  if (options.schedulerConfig === undefined && options.schedulerPlugin === undefined) return
  await (await import('./loops/scheduler.ts')).loadSchedulerOptions(options, env)
}

/** The code of the audit log is loaded on demand. */
async function loadAuditing(options: UpOptions, env: Env) {
  const isWanted = options.auditLogPath !== undefined || options.auditWebhookConfigFile !== undefined
  const auditing = isWanted
    ? await (await import('./access/audit.ts')).createAuditing(options, env)
    : undefined
  return {
    auditing,
    async [Symbol.asyncDispose]() {
      for (const backend of auditing?.backends ?? []) await backend[Symbol.asyncDispose]()
    },
  }
}

/** This machine's first address that is not a loopback one; endpoints may not have those. */
function chooseAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap(of => of ?? [])
  const found = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)
  return found?.address ?? unreachableAddress
}

interface Listening {
  readonly port: number
  readonly handler: Handler
  readonly pki: Pki
  /** PEM of the CAs of client certificates. */
  readonly clientCa: string
  readonly env: Env
}

async function listen({ port, handler, pki, clientCa, env }: Listening): Promise<HttpServer> {
  try {
    const { certificate: cert, key } = pki.server
    return await serve({
      handler,
      port,
      tls: { cert, key, clientCa },
      log: env.log,
      upgrade: createWebSocketUpgrade({ handler, log: env.log }),
      passesThrough: isProxyPath,
      isUrgent: isHealthPath,
      defersBodies: true,
    })
  } catch (error) {
    throw new CommandError(
      `port ${port} of 127.0.0.1 ${explainSystemError(error)}; choose another with --port, or 0 for any`,
      { cause: error },
    )
  }
}
