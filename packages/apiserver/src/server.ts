import { builtinResources } from '@coxswain/api'
import { newServiceUnavailable, StatusError } from '@coxswain/apimachinery/status'
import { type Env, TaskGroup } from '@coxswain/kit'
import { MetricsRegistry } from '@coxswain/kit/metrics'
import type { Store } from '@coxswain/storage'
import { strategyFor } from '@coxswain/strategies'
import { parseServiceRanges } from '@coxswain/strategies/service'
import { type Handler, parsePath, parseQuery, type WireRequest } from '@coxswain/wire'
import { type AdmissionPlugin, createAdmission, openPlugins } from './admission/admission.ts'
import { measurePlugins, measureSteps } from './admission/admission-metrics.ts'
import { defaultAdmissionPlugins } from './admission/plugins.ts'
import type { Auditing } from './audit/auditing.ts'
import { type AuthenticationOptions, resolveAuthentication } from './authentication/authentication.ts'
import { anonymous } from './authentication/authenticator.ts'
import { type AuthorizerFactory, defaultAuthorizer } from './authorization/authorizer-factory.ts'
import { createGrantReader } from './authorization/rbac/grants.ts'
import { createPolicyReader } from './authorization/rbac/policy.ts'
import { Turns } from './cache/slices.ts'
import { WatchCache } from './cache/watch-cache.ts'
import { CrdController } from './custom-resources/controller.ts'
import { customResourceDefinitionStrategy } from './custom-resources/strategy.ts'
import { Documents } from './discovery/documents.ts'
import { type ComponentCheck, createHealthChecks } from './endpoints/health.ts'
import { route } from './endpoints/route.ts'
import { createAudit, createFailedAuthenticationAudit } from './filters/audit.ts'
import { authenticate } from './filters/authenticate.ts'
import { createAuthorize } from './filters/authorize.ts'
import { createCompress } from './filters/compress.ts'
import { answerErrors } from './filters/errors.ts'
import { createImpersonate } from './filters/impersonate.ts'
import { createInFlightLimit, defaultInFlightLimits, type InFlightLimits } from './filters/in-flight.ts'
import { createIndent } from './filters/indent.ts'
import { createLargeYaml, type YamlReader } from './filters/large-yaml.ts'
import { receiveBody } from './filters/receive-body.ts'
import { createRequestMetrics } from './filters/request-metrics.ts'
import { registerServerMetrics } from './filters/server-metrics.ts'
import { limitStrangers } from './filters/strangers.ts'
import { createTimeout } from './filters/timeout.ts'
import { FlowControl } from './flow-control/flow-control.ts'
import { registerFlowMetrics } from './flow-control/flow-metrics.ts'
import { type Dialer, noDialer } from './nodes/dialer.ts'
import type { KubeletClient } from './nodes/kubelet.ts'
import type { NodeConnection } from './nodes/node-connection.ts'
import type { AcceptSpdy } from './nodes/spdy.ts'
import { noOutbound, type Outbound } from './outbound/outbound.ts'
import { type WebhookAuthentication, WebhookClient } from './outbound/webhook-client.ts'
import { createTrustLoop } from './post-start/authentication-trust.ts'
import { createBootstrapObjects } from './post-start/bootstrap.ts'
import { compactHistory } from './post-start/compaction.ts'
import { createSchemaStatusLoop } from './post-start/flow-schema-status.ts'
import { createKubernetesServiceLoop } from './post-start/kubernetes-service.ts'
import { createPolicyStatusLoop } from './post-start/policy-status.ts'
import { createAddressLoop } from './post-start/repair-allocations.ts'
import { Registry } from './registry/registry.ts'
import { createServedResource } from './registry/served-resource.ts'
import type { Compression } from './request/compression.ts'
import type { Advertised, RequestContext, ServerState } from './request/context.ts'
import { compose, type Filter } from './request/filter.ts'
import { parseRequestInfo } from './request/request-info.ts'
import { Warnings } from './request/warnings.ts'

export interface ApiServerOptions {
  readonly env: Env
  /** Everything the server knows. It belongs to the caller, who closes it after `run` has ended. */
  readonly store: Store
  /** How it is found out who sent a request. @default client certificates */
  readonly authentication?: AuthenticationOptions
  /** @default {@link defaultAuthorizer}: `system:masters` may do everything, others what roles allow them */
  readonly authorizer?: AuthorizerFactory
  /** How many requests are worked on at once. @default 400 that read and 200 that write */
  readonly inFlightLimits?: Partial<InFlightLimits>
  /** Whether FlowSchemas say who waits when there are more; otherwise what is too much is refused. @default true */
  readonly priorityAndFairness?: boolean
  /** What is written down of requests, and where. @default nothing */
  readonly audit?: Auditing
  /** The way to webhooks and identity providers. @default there is none */
  readonly outbound?: Outbound
  /** The way to the nodes' agents: logs, exec, attach and port-forward. @default there is none */
  readonly nodes?: NodeConnection
  /** The way to Pods and kubelets of nodes that `nodes` does not lead to. @default there is none */
  readonly dialer?: Dialer
  /** How the kubelets of such nodes are spoken to; asked when one is. @default without a certificate, taking any of theirs */
  readonly kubelets?: () => KubeletClient
  /** What `kubectl get componentstatuses` asks besides the store, by name. @default nothing */
  readonly components?: Readonly<Record<string, ComponentCheck>>
  /** How SPDY is spoken: port-forward of every kubectl needs it, exec and attach of those before 1.31. @default not at all */
  readonly acceptSpdy?: AcceptSpdy
  /** What the server proves itself with to webhooks. @default nothing */
  readonly webhookAuthentication?: WebhookAuthentication
  /** Whether the types of ValidatingAdmissionPolicies are checked, as upstream's controller manager does. @default false */
  readonly checkPolicyTypes?: boolean
  /** Makes large answers smaller for clients that ask for it. @default they go out as they are */
  readonly compression?: Compression
  /** Reads large bodies of YAML on another thread. @default they are read like small ones */
  readonly readLargeYaml?: YamlReader
  /** What `/metrics` shows, for those who have more to count in this process. @default one of the server's own */
  readonly metrics?: MetricsRegistry
  /** In the order in which they are asked. @default {@link defaultAdmissionPlugins} */
  readonly admission?: readonly AdmissionPlugin[]
  /** The CIDR of which services get their addresses; two, of different families, with a comma. @default 10.96.0.0/12 */
  readonly serviceClusterIpRange?: string
  /**
   * Where the endpoints of the service `kubernetes` point to; asked at start, and when somebody has deleted them.
   * @default an address that is reserved for documentation, port 6443
   */
  readonly advertise?: () => Advertised | Promise<Advertised>
}

const defaultServiceRange = '10.96.0.0/12'
const noLimits = { readOnly: Number.POSITIVE_INFINITY, mutating: Number.POSITIVE_INFINITY }
const nowhere = { address: '192.0.2.1', port: 6443 }

/** An API server without a socket: give its `handler` to a transport. */
export interface ApiServer {
  readonly handler: Handler
  /** Resolves when `/readyz` is 200; rejects when the start fails. */
  readonly ready: Promise<void>
  /** From now on `/readyz` fails, and every watch ends; what is under way goes on. For a server that is about to stop. */
  drain(): void
  /** Loads the store, serves until `signal` aborts, and resolves when everything has stopped. */
  run(signal: AbortSignal): Promise<void>
}

export function createApiServer(options: ApiServerOptions): ApiServer {
  const { env, store } = options
  const started = Promise.withResolvers<void>()
  started.promise.catch(() => {})
  let isReady = false
  let isDraining = false

  const registry = new Registry()
  const metrics = options.metrics ?? new MetricsRegistry()
  const cache = new WatchCache({ store, env })
  const turns = new Turns(env.clock)
  const healthChecks = createHealthChecks({
    store,
    cache,
    isReady: () => isReady,
    isDraining: () => isDraining,
  })
  const outbound = options.outbound ?? noOutbound
  const webhooks = new WebhookClient({
    env,
    cache,
    outbound,
    ...(options.webhookAuthentication && { authentication: options.webhookAuthentication }),
  })
  const readPolicy = createPolicyReader(cache)
  const authorizer = (options.authorizer ?? defaultAuthorizer)({ env, cache, outbound, readPolicy })
  const admissionPorts = { env, store, cache, registry, authorizer, webhooks }
  const plugins = openPlugins(options.admission ?? defaultAdmissionPlugins, admissionPorts)
  const state: ServerState = {
    env,
    store,
    cache,
    registry,
    documents: new Documents(registry, turns, options.compression),
    turns,
    admission: measureSteps(createAdmission(measurePlugins(plugins, metrics, env.clock)), metrics, env.clock),
    healthChecks,
    components: options.components ?? {},
    metrics,
    network: {
      serviceRanges: parseServiceRanges(options.serviceClusterIpRange ?? defaultServiceRange),
      advertise: options.advertise ?? (() => nowhere),
    },
    authentication: resolveAuthentication(options.authentication),
    authorizer,
    grants: createGrantReader(readPolicy, authorizer),
    outbound,
    webhooks,
    ...(options.nodes && { nodes: options.nodes }),
    dialer: options.dialer ?? noDialer,
    kubelets: options.kubelets ?? (() => ({})),
    ...(options.compression && { compression: options.compression }),
    ...(options.acceptSpdy && { acceptSpdy: options.acceptSpdy }),
  }
  const waitForStart: Filter = (context, next) => {
    if (isReady || !context.info.isResource) return next(context)
    const { status } = newServiceUnavailable('the server is starting')
    throw new StatusError({ ...status, details: { retryAfterSeconds: 1 } })
  }
  const limits = { ...defaultInFlightLimits, ...options.inFlightLimits }
  const isFair = options.priorityAndFairness ?? true
  const flow = isFair ? new FlowControl(state, limits.readOnly + limits.mutating) : undefined
  if (flow) {
    state.flow = flow
    registerFlowMetrics(metrics, flow)
  }
  // With priority and fairness requests are only counted here.
  const inFlightLimit = createInFlightLimit(flow ? noLimits : limits)
  registerServerMetrics(metrics, registry, inFlightLimit)
  /** Every request passes these, first to last. */
  const filters: readonly Filter[] = [
    createRequestMetrics(metrics, env.clock),
    limitStrangers,
    ...(options.compression ? [createCompress(options.compression)] : []),
    createIndent(turns),
    answerErrors,
    createTimeout(env.clock),
    ...(options.audit ? [createFailedAuthenticationAudit(options.audit)] : []),
    authenticate,
    ...(options.audit ? [createAudit(options.audit)] : []),
    createImpersonate(state.authorizer),
    inFlightLimit,
    ...(flow ? [flow.filter] : []),
    waitForStart,
    createAuthorize(state.authorizer),
    receiveBody,
    ...(options.readLargeYaml ? [createLargeYaml(options.readLargeYaml)] : []),
  ]
  const handle = compose(filters, route)

  return {
    handler: async request => handle(createContext(state, request)),
    ready: started.promise,
    drain() {
      isDraining = true
      cache.endWatches()
    },
    async run(signal) {
      await using group = new TaskGroup(signal)
      const spawn = (loop: { run(signal: AbortSignal): Promise<void> }) =>
        group.spawn(cancel => loop.run(cancel))
      try {
        await cache.load()
        for (const info of builtinResources()) {
          const isCrd = info.group === 'apiextensions.k8s.io'
          const strategy = isCrd ? customResourceDefinitionStrategy : strategyFor(info.group, info.resource)
          registry.add(
            createServedResource(info, strategy, {
              custom: false,
              cacheOf: prefix => cache.resource(prefix),
            }),
          )
        }
        group.spawn(cancel => cache.run(cancel))
        const isNew = cache.revision === 0
        await createBootstrapObjects(state)
        if (isNew) {
          cache.forgetHistory()
          await store.compact(cache.revision)
        }
        const definitions = registry.findResource('apiextensions.k8s.io', 'customresourcedefinitions')!
        const crds = new CrdController(state, definitions)
        crds.loadEstablished()
        spawn(crds)
        group.spawn(cancel => compactHistory(store, env, cancel))
        if (options.checkPolicyTypes) spawn(createPolicyStatusLoop(state))
        if (flow) {
          spawn(flow)
          spawn(createSchemaStatusLoop(state))
        }
        spawn(createAddressLoop(state))
        spawn(createKubernetesServiceLoop(state))
        const { trust } = options.authentication ?? {}
        if (trust) spawn(createTrustLoop(state, trust))
        isReady = true
        started.resolve()
      } catch (error) {
        started.reject(error)
        throw error
      }
      try {
        await group.join()
      } finally {
        cache.endWatches()
        await webhooks[Symbol.asyncDispose]()
        await state.authorizer.dispose?.()
      }
    },
  }
}

function createContext(state: ServerState, request: WireRequest): RequestContext {
  const path = parsePath(request.path)
  const query = parseQuery(request.query)
  const info = parseRequestInfo(request.method, request.path, path.segments, query)
  return {
    state,
    request,
    path,
    query,
    info,
    user: anonymous,
    warnings: new Warnings(),
    auditAnnotations: new Map(),
  }
}
