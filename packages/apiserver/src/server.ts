import { builtinResources } from '@coxswain/api'
import { newServiceUnavailable, StatusError } from '@coxswain/apimachinery'
import { TaskGroup } from '@coxswain/kit'
import { strategyFor } from '@coxswain/strategies'
import { type Handler, parsePath, parseQuery, type WireRequest } from '@coxswain/wire'
import { createAdmission, openPlugins } from './admission/admission.ts'
import { measurePlugins, measureSteps } from './admission/admission-metrics.ts'
import { resolveAuthentication } from './authentication/authentication.ts'
import { anonymous } from './authentication/authenticator.ts'
import { createGrantReader } from './authorization/rbac/grants.ts'
import { createPolicyReader } from './authorization/rbac/policy.ts'
import { Turns } from './cache/slices.ts'
import { WatchCache } from './cache/watch-cache.ts'
import { CrdController } from './custom-resources/controller.ts'
import { customResourceDefinitionStrategy } from './custom-resources/strategy.ts'
import { Documents } from './discovery/documents.ts'
import { createHealthChecks } from './endpoints/health.ts'
import { route } from './endpoints/route.ts'
import { createAudit, createFailedAuthenticationAudit } from './filters/audit.ts'
import { createAuthenticate } from './filters/authenticate.ts'
import { createAuthorize } from './filters/authorize.ts'
import { createCompress } from './filters/compress.ts'
import { answerErrors } from './filters/errors.ts'
import { createImpersonate } from './filters/impersonate.ts'
import { createInFlightLimit } from './filters/in-flight.ts'
import { createIndent } from './filters/indent.ts'
import { createLargeYaml } from './filters/large-yaml.ts'
import { receiveBody } from './filters/receive-body.ts'
import { createRequestMetrics } from './filters/request-metrics.ts'
import { registerServerMetrics } from './filters/server-metrics.ts'
import { createTimeout } from './filters/timeout.ts'
import { limitUnauthenticated } from './filters/unauthenticated.ts'
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
import { Registry } from './registry/registry.ts'
import { createServedResource } from './registry/served-resource.ts'
import type { RequestContext, ServerState } from './request/context.ts'
import { compose, type Filter } from './request/filter.ts'
import { parseRequestInfo } from './request/request-info.ts'
import { Warnings } from './request/warnings.ts'
import { guaranteedUpdate } from './write/guaranteed-update.ts'
import { createMarkTokenUsed } from './write/mark-token-used.ts'

const noLimits = { readOnly: Number.POSITIVE_INFINITY, mutating: Number.POSITIVE_INFINITY }

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
  const resolved = resolveOptions(options)
  const { env, store, metrics, outbound, audit, nodes } = resolved
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
  const plugins = openPlugins(resolved.admission.plugins, admissionPorts)
  const documents = new Documents(registry, turns, compression)
  const admission = createAdmission(measurePlugins(plugins, metrics, env.clock), admissionPorts)
  const authentication = resolveAuthentication(resolved.authentication, {
    clock: env.clock,
    cache,
    markTokenUsed: createMarkTokenUsed({
      log: env.log,
      registry,
      update: update => guaranteedUpdate(state, update),
    }),
  })
  const state: ServerState = {
    env,
    store,
    cache,
    registry,
    documents,
    turns,
    admission: measureSteps(admission, metrics, env.clock),
    healthChecks,
    components: resolved.components,
    metrics,
    network: resolved.network,
    verifySignature,
    authentication,
    authorizer,
    grants: createGrantReader(readPolicy, authorizer),
    outbound,
    webhooks,
    ...(nodes.connection && { nodes: nodes.connection }),
    dialer: nodes.dialer,
    kubelets: nodes.kubelets,
    ...(compression && { compression }),
    ...(nodes.acceptSpdy && { acceptSpdy: nodes.acceptSpdy }),
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
  if (flow) {
    state.flow = flow
    registerFlowMetrics(metrics, flow)
  }
  // With priority and fairness requests are only counted here.
  const inFlightLimit = createInFlightLimit(flow ? noLimits : inFlight)
  registerServerMetrics(metrics, registry, inFlightLimit)
  /** Every request passes these, first to last. */
  const filters: readonly Filter[] = [
    createRequestMetrics({ metrics, clock: env.clock, registry, documents }),
    limitUnauthenticated,
    ...(compression ? [createCompress(compression)] : []),
    createIndent(turns),
    answerErrors,
    createTimeout(env.clock),
    ...(audit ? [createFailedAuthenticationAudit(audit)] : []),
    createAuthenticate(authentication),
    ...(audit ? [createAudit(audit)] : []),
    createImpersonate(authorizer),
    inFlightLimit,
    ...(flow ? [flow.filter] : []),
    waitForStart,
    createAuthorize(authorizer),
    receiveBody,
    ...(readLargeYaml ? [createLargeYaml(readLargeYaml)] : []),
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
        if (resolved.admission.checkPolicyTypes) spawn(createPolicyStatusLoop(state))
        if (flow) {
          spawn(flow)
          spawn(createSchemaStatusLoop(state))
        }
        spawn(createAddressLoop(state))
        spawn(createKubernetesServiceLoop(state))
        const { trust } = resolved.authentication
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
    env: state.env,
    request,
    path,
    query,
    info,
    user: anonymous,
    warnings: new Warnings(),
    auditAnnotations: new Map(),
  }
}
