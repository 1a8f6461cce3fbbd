import { resourceName } from '@coxswain/api'
import { newServiceUnavailable, StatusError } from '@coxswain/apimachinery/status'
import { type Env, TaskGroup } from '@coxswain/kit'
import { type Strategy, strategyFor } from '@coxswain/strategies'
import { type Handler, parsePath, parseQuery, type WireRequest } from '@coxswain/wire'
import { createAdmission, openPlugins } from './admission/admission.ts'
import { Aggregator } from './aggregation/aggregator.ts'
import { authenticateToken, resolveAuthentication } from './authentication/authentication.ts'
import { anonymous } from './authentication/authenticator.ts'
import { createGrantReader } from './authorization/rbac/grants.ts'
import { createPolicyReader } from './authorization/rbac/policy.ts'
import { Turns } from './cache/slices.ts'
import { WatchCache } from './cache/watch-cache.ts'
import { CrdController } from './custom-resources/controller.ts'
import { serveOwnResource } from './custom-resources/own-resource.ts'
import { createOwnServer } from './custom-resources/own-server.ts'
import { customResourceDefinitionStrategy } from './custom-resources/strategy.ts'
import { Documents } from './discovery/documents.ts'
import { createHealthChecks } from './endpoints/health.ts'
import { isProxyPath } from './endpoints/proxies.ts'
import { createMetricsResources } from './endpoints/resource-metrics-info.ts'
import { createRoute } from './endpoints/route.ts'
import { createAuthenticate, createAuthorize, createImpersonate } from './filters/access.ts'
import { createAudit, createFailedAuthenticationAudit } from './filters/audit.ts'
import { createInFlightLimit, createTimeout, limitUnauthenticated } from './filters/limits.ts'
import { createLargeYaml, receiveBody } from './filters/request-body.ts'
import { createRequestMetrics } from './filters/request-metrics.ts'
import { answerErrors, createCompress, createIndent } from './filters/responses.ts'
import { registerServerMetrics } from './filters/server-metrics.ts'
import { createTrace, traceFilter, traceRoute } from './filters/trace.ts'
import { FlowControl } from './flow-control/flow-control.ts'
import { registerFlowMetrics } from './flow-control/flow-metrics.ts'
import { type ApiServerOptions, resolveOptions } from './options.ts'
import { WebhookClient } from './outbound/webhook-client.ts'
import { createTrustLoop } from './post-start/authentication-trust.ts'
import { createBootstrapObjects } from './post-start/bootstrap.ts'
import { compactHistory } from './post-start/compaction.ts'
import { createSchemaStatusLoop } from './post-start/flow-schema-status.ts'
import { createKubernetesServiceLoop } from './post-start/kubernetes-service.ts'
import { createPolicyStatusLoop } from './post-start/policy-status.ts'
import { createAddressLoop } from './post-start/repair-allocations.ts'
import { Reader } from './read/read.ts'
import { createBuiltinConventions } from './registry/builtin-conventions.ts'
import { createServedResource, Registry } from './registry/registry.ts'
import type { RequestContext } from './request/context.ts'
import type { Filter, Next } from './request/filter.ts'
import { parseRequestInfo } from './request/request-info.ts'
import { Warnings } from './request/warnings.ts'
import { guaranteedUpdate } from './write/guaranteed-update.ts'
import { FieldManagers } from './write/managed-fields.ts'
import { createMarkTokenUsed } from './write/mark-token-used.ts'

interface NamedFilter {
  readonly name: string
  readonly filter: Filter
}

const traceName = 'trace'

const noLimits = { readOnly: Number.POSITIVE_INFINITY, mutating: Number.POSITIVE_INFINITY }

/** An API server without a socket: give its `handler` to a transport. */
export interface ApiServer {
  /** The filters of every request, first to last. */
  readonly filters: readonly string[]
  readonly handler: Handler
  /**
   * Whether requests with this path (as on the wire) are passed on to other servers, which take bodies of any length: transports
   * stream those.
   */
  passesThrough(path: string): boolean
  /** Resolves when `/readyz` is 200; rejects when the start fails. */
  readonly ready: Promise<void>
  /** Fails `/readyz` and ends every watch; other requests continue. For a server that is about to stop. */
  drain(): void
  /** Loads the store, serves until `signal` aborts, and resolves when everything has stopped. */
  run(signal: AbortSignal): Promise<void>
}

/** Creates an API server; nothing starts before `run`. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const resolved = resolveOptions(options)
  const { env, store, metrics, outbound, audit, nodes } = resolved
  const { tracer } = env
  const served = new Set(resolved.kinds.map(resourceName))
  const serves = (resource: string) => served.has(resource)
  const { compression, readLargeYaml, verifySignature } = resolved.platform
  const started = Promise.withResolvers<void>()
  started.promise.catch(() => {})
  let isReady = false
  let isDraining = false

  const registry = new Registry()
  const cache = new WatchCache({ store, env })
  const turns = new Turns(env.clock)
  const healthChecks = createHealthChecks({
    store,
    cache,
    isReady: () => isReady,
    isDraining: () => isDraining,
  })
  const webhooks = new WebhookClient({
    env,
    cache,
    outbound,
    ...(resolved.admission.webhookAuthentication && {
      authentication: resolved.admission.webhookAuthentication,
    }),
  })
  const readPolicy = createPolicyReader(cache)
  const authorizer = resolved.authorizer({ env, cache, outbound, readPolicy })
  const admissionPorts = { env, store, cache, registry, authorizer, webhooks }
  const plugins = openPlugins(
    resolved.admission.plugins.filter(({ needs }) => needs === undefined || serves(needs)),
    admissionPorts,
  )
  const admission = createAdmission(plugins, admissionPorts, metrics)
  const { dialer, kubelets, connection, acceptSpdy } = nodes
  const aggregated = new Aggregator({
    env,
    store,
    cache,
    registry,
    admission,
    outbound,
    dialer,
    metrics,
    proxyClient: resolved.aggregation.proxyClient,
  })
  const documents = new Documents({ registry, aggregated, turns, compression })
  const authentication = resolveAuthentication(resolved.authentication, {
    clock: env.clock,
    cache,
    markTokenUsed: createMarkTokenUsed({
      log: env.log,
      registry,
      update: update => guaranteedUpdate({ store, cache }, update),
    }),
  })
  const { network } = resolved
  const { serviceRanges, advertise } = network
  const read = { env, store, cache, turns }
  const reader = new Reader(read)
  const fieldManagers = new FieldManagers({ clock: env.clock, registry })
  const grants = createGrantReader(readPolicy, authorizer)
  const write = {
    env,
    store,
    cache,
    registry,
    reader,
    admission,
    authorizer,
    fieldManagers,
    grants,
    serviceRanges,
    verifySignature,
  }
  const waitForStart: Filter = (context, next) => {
    if (isReady || !context.info.isResource) return next(context)
    const { status } = newServiceUnavailable('the server is starting')
    throw new StatusError({ ...status, details: { retryAfterSeconds: 1 } })
  }
  const { inFlight, priorityAndFairness } = resolved.limits
  const flow = priorityAndFairness
    ? new FlowControl({ env, cache, registry }, inFlight.readOnly + inFlight.mutating)
    : undefined
  if (flow) registerFlowMetrics(metrics, flow)
  // With priority and fairness, this filter only counts requests.
  const inFlightLimit = createInFlightLimit(flow ? noLimits : inFlight)
  registerServerMetrics(metrics, registry, inFlightLimit)
  /** Every request passes these, first to last. */
  const filters: readonly (NamedFilter | undefined)[] = [
    {
      name: 'request metrics',
      filter: createRequestMetrics({ metrics, clock: env.clock, registry, documents }),
    },
    { name: 'limit unauthenticated', filter: limitUnauthenticated },
    compression && { name: 'compress', filter: createCompress(compression) },
    { name: 'indent', filter: createIndent(turns) },
    { name: 'answer errors', filter: answerErrors },
    { name: 'time out', filter: createTimeout(env.clock) },
    audit && {
      name: 'audit failed authentication',
      filter: createFailedAuthenticationAudit(audit),
    },
    { name: 'authenticate', filter: createAuthenticate(authentication) },
    tracer && { name: traceName, filter: createTrace(tracer) },
    audit && { name: 'audit', filter: createAudit(audit) },
    { name: 'impersonate', filter: createImpersonate(authorizer) },
    { name: 'limit in flight', filter: inFlightLimit },
    flow && { name: 'priority and fairness', filter: flow.filter },
    { name: 'wait for start', filter: waitForStart },
    { name: 'authorize', filter: createAuthorize(authorizer) },
    { name: 'receive body', filter: receiveBody },
    readLargeYaml && { name: 'read large YAML', filter: createLargeYaml(readLargeYaml) },
  ]
  const used = filters.filter(entry => entry !== undefined)
  const kubeletPorts = {
    env,
    cache,
    reader,
    admission,
    dialer,
    kubelets,
    ...(connection && { nodes: connection }),
  }
  const metricsResources =
    nodes.resourceMetrics && serves('pods') && serves('nodes')
      ? createMetricsResources(prefix => cache.resource(prefix))
      : undefined
  const route = createRoute({
    registry,
    read,
    write,
    pods: { ...kubeletPorts, authorizer, ...(acceptSpdy && { acceptSpdy }) },
    proxies: { ...kubeletPorts, ...(compression && { compression }) },
    tokens: { ...write, authentication },
    reviews: {
      write,
      clock: env.clock,
      authorizer,
      audiences: authentication.audiences,
      authenticateToken: (token, audiences) => authenticateToken(authentication, token, { audiences }),
    },
    componentStatuses: { clock: env.clock, cache, reader, healthChecks, components: resolved.components },
    resourceMetrics: metricsResources && { ...kubeletPorts, resources: new Set(metricsResources) },
    documents: {
      healthChecks,
      documents,
      metrics,
      flow,
      issuer: { serviceAccounts: authentication.serviceAccounts, advertise },
    },
  })
  const firstTraced = used.findIndex(({ name }) => name === traceName) + 1
  const handle = tracer
    ? compose(
        used.map(({ name, filter }, i) => (i < firstTraced ? filter : traceFilter(tracer, name, filter))),
        traceRoute(tracer, route),
      )
    : compose(
        used.map(({ filter }) => filter),
        route,
      )

  return {
    filters: used.map(({ name }) => name),
    handler: tracer
      ? async request => handle({ ...createContext(env, request, aggregated), receivedAt: tracer.now() })
      : async request => handle(createContext(env, request, aggregated)),
    passesThrough: path => isProxyPath(path) || aggregated.isDelegated(parsePath(path).segments),
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
        for (const info of resolved.kinds) {
          const isCrd = info.group === 'apiextensions.k8s.io'
          const known = isCrd ? customResourceDefinitionStrategy : strategyFor(info.group, info.resource)
          const strategy = known.ttl === undefined ? known : withTtl(known, resolved.eventTtl)
          const conventions = createBuiltinConventions({ info, strategy, scheme: registry })
          const cacheOf = (prefix: string) => cache.resource(prefix)
          registry.add(createServedResource(info, { strategy, conventions, cacheOf }))
        }
        for (const own of resolved.resources(createOwnServer({ registry, read, write }))) {
          const resource = await serveOwnResource({ env, cache, reader }, own)
          registry.add(resource)
          const { home } = resource
          if (home) group.spawn(cancel => home.cache.run(cancel))
        }
        for (const resource of metricsResources ?? []) registry.addDefault(resource)
        group.spawn(cancel => cache.run(cancel))
        const isNew = cache.revision === 0
        if (!resolved.isBootstrapped)
          await createBootstrapObjects({
            env,
            store,
            cache,
            network,
            serves,
            hasResourceMetrics: metricsResources !== undefined,
          })
        const aggregates = serves('apiservices.apiregistration.k8s.io')
        if (aggregates) await aggregated.start()
        if (isNew) {
          cache.forgetHistory()
          await store.compact(cache.revision)
        }
        const crdResource = registry.findResource('apiextensions.k8s.io', 'customresourcedefinitions')
        if (crdResource) {
          const crds = new CrdController({ env, store, cache, registry, admission, webhooks }, crdResource)
          crds.loadEstablished()
          spawn(crds)
        }
        if (aggregates) for (const loop of aggregated.loops()) spawn(loop)
        group.spawn(cancel => compactHistory(store, env, cancel))
        if (
          resolved.admission.checkPolicyTypes &&
          serves('validatingadmissionpolicies.admissionregistration.k8s.io')
        )
          spawn(createPolicyStatusLoop({ env, store, cache, registry, fieldManagers }))
        if (flow) {
          spawn(flow)
          if (serves('flowschemas.flowcontrol.apiserver.k8s.io'))
            spawn(createSchemaStatusLoop({ env, store, cache, registry, fieldManagers }))
        }
        if (serves('services')) {
          spawn(createAddressLoop({ env, store, cache }))
          spawn(createKubernetesServiceLoop({ env, store, cache, network }))
        }
        const { trust } = resolved.authentication
        if (trust) spawn(createTrustLoop({ env, store, cache }, trust))
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
        await aggregated[Symbol.asyncDispose]()
        await authorizer.dispose?.()
      }
    },
  }
}

/** Composes filters, first to last, and the route into one function. */
function compose(filters: readonly Filter[], route: Next): Next {
  return filters.reduceRight<Next>((next, filter) => context => filter(context, next), route)
}

function createContext(env: Env, request: WireRequest, aggregated: Aggregator): RequestContext {
  const path = parsePath(request.path)
  const query = parseQuery(request.query)
  const info = parseRequestInfo(request.method, request.path, path.segments, query)
  return {
    env,
    request,
    path,
    query,
    info,
    user: anonymous,
    delegate: aggregated.findDelegate(path.segments),
    warnings: new Warnings(),
    auditAnnotations: new Map(),
  }
}

/** Only events have a time to live. Zero is none. */
function withTtl({ ttl: preset, ...strategy }: Strategy, ttl: number | undefined = preset): Strategy {
  return ttl ? { ...strategy, ttl } : strategy
}
