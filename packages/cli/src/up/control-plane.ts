import { join, resolve } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import { type ApiServer, createApiServer, isHealthPath, type NodeConnection } from '@coxswain/apiserver'
import { createYamlThread, verifySignature } from '@coxswain/apiserver/node'
import type { ControllerName } from '@coxswain/controllers/names'
import { type Env, type LogThreshold, TaskGroup } from '@coxswain/kit'
import { MetricsRegistry } from '@coxswain/kit/metrics'
import { abortOnSignals, registerProcessMetrics } from '@coxswain/kit/node'
import type { Operator } from '@coxswain/runtime'
import type { Store } from '@coxswain/storage'
import { createInProcessTransport, type PeerCertificate } from '@coxswain/wire'
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
import { ensureFrontProxy, ensureKubeletClientCertificate, ensurePki } from './access/pki.ts'
import { readProxyClient } from './access/proxy-client.ts'
import { joinHostPort, resolveAddresses, type ServingAddresses } from './access/serving-addresses.ts'
import { loadServingCertificates, type ServingCertificates } from './access/serving-certificates.ts'
import { serveControlSocket } from './control-socket.ts'
import { leaderElectionOf } from './loops/leader-election.ts'
import { nodeRangesOf } from './loops/node-ranges.ts'
import { answerMirrorPods } from './nodes/answer-mirror-pods.ts'
import { createComponentChecks } from './nodes/component-health.ts'
import type { ComponentLogs } from './nodes/component-logs.ts'
import { createKubeletClient } from './nodes/kubelets.ts'
import { createLateConnection } from './nodes/late-connection.ts'
import { nodeNamesOf } from './nodes/node-names.ts'
import { selectServerControllers } from './options/controller-names.ts'
import type { ServedKinds } from './options/kinds.ts'
import type { GivenOptions, UpOptions } from './options/up-options.ts'
import { socketOutbound } from './outbound.ts'

/** The identity of the control loops and operators in this process. */
const privilegedPeer: PeerCertificate = {
  commonName: 'system:coxswain',
  organizations: ['system:masters'],
  notAfter: Number.MAX_SAFE_INTEGER,
}

/** Milliseconds that requests under way get to end by themselves. */
const drainTime = 10_000

export interface ControlPlane {
  readonly options: UpOptions
  readonly given: GivenOptions
  readonly kinds: ServedKinds
  readonly dataDir: string
  readonly env: Env
  /** The logs of the components. */
  readonly logs: ComponentLogs
  readonly logLevel: LogThreshold
  readonly controllers: readonly ControllerName[]
  /** The thread of the control loops, being loaded, or started now; undefined without controllers. */
  readonly loopsThread: (() => Worker) | undefined
  /** The store, being opened while this module is loaded. */
  readonly opening: Promise<Store>
  /** Called when the server is serving. */
  readonly onReady: () => void
}

/** Serves until a signal stops it; resolves when everything has stopped. */
export async function runControlPlane({
  options,
  given,
  kinds,
  dataDir,
  env,
  logs,
  logLevel,
  controllers,
  loopsThread,
  opening,
  onReady,
}: ControlPlane): Promise<void> {
  const leaderElection = leaderElectionOf(options, env)
  const nodeRanges = nodeRangesOf(options)
  await checkScheduler(options, env)
  const kubeconfig = resolve(options.kubeconfig ?? join(dataDir, 'kubeconfig'))
  await refuseForeignKubeconfig(kubeconfig)
  const files = options.operator ?? []
  const operators = await loadOperators(files, options, env)
  const addresses = resolveAddresses(options)
  const directory = resolve(options.certDir ?? join(dataDir, 'pki'))
  const pki = ensurePki(directory, env, {
    hosts: addresses.hosts,
    serviceRange: options.serviceClusterIpRange,
  })
  const frontProxy = ensureFrontProxy(directory, env)
  const proxyClient = readProxyClient(options, frontProxy)
  await using inner = await opening
  const { store, reload } = await encrypt(inner, options, env)
  const {
    options: authentication,
    clientCa,
    signingKeyFile,
  } = await createAuthentication((await allowsEverything(options)) ? keepAnonymousOut(options) : options, {
    directory,
    isAnonymousAuthGiven: given.has('anonymousAuth'),
    env,
    ca: pki.ca.certificate,
    frontProxyCa: frontProxy.ca,
    locateKeys: async () => `https://${joinHostPort(addresses.reachable, await boundPort)}/openid/v1/jwks`,
  })
  const certificates = loadServingCertificates(options, pki, { clientCa, env })
  await using audit = await loadAuditing(options, env)
  await using tracing = await loadTracing(options, env)
  const { tracer } = tracing
  const kubelets = createKubeletClient(options, () => ensureKubeletClientCertificate(directory, env, pki.ca))
  const metrics = new MetricsRegistry()
  registerProcessMetrics(metrics)
  const nodeNames = new Set(controllers.length > 0 ? nodeNamesOf(options.nodes) : [])
  const [firstNode] = nodeNames
  let haveLoopsStarted = false
  const connected = Promise.withResolvers<NodeConnection>()
  const server = createApiServer({
    env: tracer ? { ...env, tracer } : env,
    store,
    kinds: options.kinds,
    authentication,
    authorizer: await createAuthorization(options),
    admission: {
      ...createAdmissionSetup(options),
      checkPolicyTypes: selectServerControllers(options.controllers).includes(
        'validatingadmissionpolicy-status-controller',
      ),
    },
    limits: {
      inFlight: { readOnly: options.maxRequestsInflight, mutating: options.maxMutatingRequestsInflight },
      priorityAndFairness: options.enablePriorityAndFairness === 'true',
    },
    eventTtl: durationToMilliseconds(parseDuration(options.eventTtl)),
    nodes: {
      dialer: socketDialer,
      kubelets,
      resourceMetrics: true,
      ...(firstNode !== undefined && {
        connection: answerMirrorPods(createLateConnection(nodeNames, connected.promise), firstNode, logs),
        acceptSpdy,
      }),
    },
    network: {
      serviceClusterIpRange: options.serviceClusterIpRange,
      advertise: async () => ({ address: addresses.advertised, port: await boundPort }),
    },
    outbound: socketOutbound,
    aggregation: { proxyClient: () => proxyClient },
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
  const listening = listen({ addresses, port: options.port, server, certificates, env })
  const boundPort = listening.then(({ port }) => port).catch(() => options.port)
  stop.signal.addEventListener('abort', () => {
    loops.abort(stop.signal.reason)
    const drained = listening.then(http => drain(http, server))
    Promise.allSettled([drained, loops.join()]).then(() => group.abort(stop.signal.reason))
  })
  await using http = await listening
  await server.ready
  await using _control = await serveControlSocket(dataDir, inner, env.log)
  const { reload: reloadCertificates, serverName, rootCa } = certificates
  if (reloadCertificates) group.spawn(signal => reloadCertificates(tls => http.setTls(tls), signal))
  const url = `https://${joinHostPort(addresses.local, http.port)}`
  await writeAdminKubeconfig(kubeconfig, { url, serverName }, pki)
  if (controllers.length === 0)
    await writeComponentKubeconfigs({ dataDir, certDir: directory }, { url, serverName }, pki, env)
  if (options.enableBootstrapTokenAuth) {
    const [{ ensureJoinObjects }, { createClient }] = await Promise.all([
      import('./access/join.ts'),
      import('@coxswain/client'),
    ])
    await using transport = createInProcessTransport(server.handler, env, { peer: privilegedPeer })
    await ensureJoinObjects(createClient({ env, userAgent: 'coxswain/0.1', transport }), {
      url: `https://${joinHostPort(addresses.reachable, http.port)}`,
      ca: rootCa,
      serviceRange: options.serviceClusterIpRange,
    })
  }
  // From here on a failure is that of a server that ran: its files stay.
  onReady()
  if (loopsThread || files.length > 0) {
    const connect = (options?: { readonly lendsAnswers: boolean }) =>
      createInProcessTransport(server.handler, env, { peer: privilegedPeer, ...options })
    const surroundings = { connect, env, group: loops }
    if (loopsThread) {
      const { startControlLoops } = await import('./loops/start-control-loops.ts')
      const starting = startControlLoops(surroundings, {
        worker: loopsThread(),
        options,
        dataDir,
        port: http.port,
        address: addresses.advertised,
        apiServerHost: addresses.local,
        nodeNames,
        loops: {
          controllers,
          ...(kinds.resources && { resources: kinds.resources }),
          ...(nodeRanges && { nodeRanges }),
          ...(leaderElection && { leaderElection }),
          rootCa,
          ca: pki.ca,
          signingKeyFile,
        },
      }).then(
        nodes => nodes && connected.resolve(nodes),
        (error: unknown) => {
          if (!stop.signal.aborted) throw error
        },
      )
      // Without Pods there is nothing to wait for: whatever a client may create is accepted, and reconciled a moment later.
      if (kinds.serves('pods')) await starting
      else loops.spawn(() => starting)
    }
    if (operators.length > 0) {
      const { startOperators } = await import('./start-operators.ts')
      await startOperators(operators, options, { ...surroundings, logLevel, leaderElection })
    }
    haveLoopsStarted = true
    group.spawn(() => loops.join())
  }
  if (!stop.signal.aborted)
    process.stdout.write(`coxswain is ready at ${url}, run: export KUBECONFIG=${kubeconfig}\n`)
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

/** The framework is loaded here only for operators. They are checked before anything is started. */
async function loadOperators(
  files: readonly string[],
  { concurrency }: UpOptions,
  env: Env,
): Promise<readonly Operator[]> {
  if (files.length === 0) return []
  const { checkOperators, loadOperators: load } = await import('../operators.ts')
  const operators = await load(files)
  checkOperators(operators, concurrency ? { concurrency } : {}, env)
  return operators
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

/** The code for traces is loaded only where they are made. The service has the name that kube-apiserver gives it. */
async function loadTracing(options: UpOptions, env: Env) {
  if (options.tracingConfigFile === undefined) return { tracer: undefined, async [Symbol.asyncDispose]() {} }
  return await (await import('../host/tracing.ts')).openTracing(options, 'apiserver', env)
}

interface Listening {
  readonly addresses: ServingAddresses
  readonly port: number
  readonly server: ApiServer
  readonly certificates: ServingCertificates
  readonly env: Env
}

async function listen({ addresses, port, server, certificates, env }: Listening): Promise<HttpServer> {
  const { bind, isPublic } = addresses
  const { handler } = server
  try {
    const http = await serve({
      handler,
      host: bind,
      port,
      tls: certificates.tls,
      log: env.log,
      upgrade: createWebSocketUpgrade({ handler, log: env.log }),
      passesThrough: path => server.passesThrough(path),
      isUrgent: isHealthPath,
      defersBodies: true,
    })
    if (isPublic)
      process.stderr.write(
        `coxswain: serving on ${joinHostPort(bind, http.port)}, which other machines can reach\n`,
      )
    return http
  } catch (error) {
    throw new CommandError(`port ${port} of ${bind} ${explainSystemError(error)}; ${adviceFor(error)}`, {
      cause: error,
    })
  }
}

function adviceFor(error: unknown): string {
  return (error as { cause?: { code?: string } }).cause?.code === 'EADDRNOTAVAIL'
    ? 'choose another with --bind-address'
    : 'choose another with --port, or 0 for any'
}
