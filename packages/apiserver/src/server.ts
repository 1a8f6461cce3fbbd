import { builtinResources } from '@coxswain/api'
import { newServiceUnavailable, StatusError } from '@coxswain/apimachinery'
import { type Env, TaskGroup } from '@coxswain/kit'
import type { Store } from '@coxswain/storage'
import { type Handler, parsePath, parseQuery, type WireRequest } from '@coxswain/wire'
import { type AdmissionPlugin, createAdmission } from './admission/admission.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
} from './admission/certificates.ts'
import { defaultIngressClass } from './admission/default-ingress-class.ts'
import { defaultStorageClass } from './admission/default-storage-class.ts'
import { defaultTolerationSeconds } from './admission/default-toleration-seconds.ts'
import { limitRanger } from './admission/limit-ranger.ts'
import { namespaceLifecycle } from './admission/namespace-lifecycle.ts'
import { persistentVolumeClaimResize } from './admission/persistent-volume-claim-resize.ts'
import { podSecurity } from './admission/pod-security/pod-security.ts'
import { priority } from './admission/priority.ts'
import { resourceQuota } from './admission/resource-quota.ts'
import { runtimeClass } from './admission/runtime-class.ts'
import { serviceAccount } from './admission/service-account.ts'
import { storageObjectInUseProtection } from './admission/storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './admission/taint-nodes-by-condition.ts'
import { type Authenticator, anonymous, authenticateCertificate } from './authn/authenticator.ts'
import { type Authorizer, authorizeMasters } from './authz/authorizer.ts'
import { createBootstrapObjects } from './bootstrap.ts'
import { WatchCache } from './cache/watch-cache.ts'
import { compactHistory } from './compaction.ts'
import { CrdController } from './crd/controller.ts'
import { Documents } from './documents.ts'
import { createAuthenticate } from './filters/authenticate.ts'
import { createAuthorize } from './filters/authorize.ts'
import { answerErrors } from './filters/errors.ts'
import { compose, type Filter } from './filters/filter.ts'
import { createInFlightLimit } from './filters/in-flight.ts'
import { createTimeout } from './filters/timeout.ts'
import { route } from './handlers/route.ts'
import type { HealthCheck } from './health.ts'
import { noOutbound, type Outbound } from './outbound/outbound.ts'
import { Registry } from './registry/registry.ts'
import { createServedResource } from './registry/served-resource.ts'
import type { Advertised, RequestContext, ServerState } from './request/context.ts'
import { parseRequestInfo } from './request/request-info.ts'
import { strategyFor } from './strategies/index.ts'
import { keepKubernetesService } from './strategies/service/kubernetes.ts'
import { parseServiceRanges } from './strategies/service/pools.ts'
import { keepAddresses } from './strategies/service/repair.ts'

export interface ApiServerOptions {
  readonly env: Env
  /** Everything the server knows. It belongs to the caller, who closes it after `run` has ended. */
  readonly store: Store
  /** Asked in order. @default client certificates */
  readonly authenticators?: readonly Authenticator[]
  /** @default `system:masters` may do everything, anybody may ask for health and version */
  readonly authorizer?: Authorizer
  /** The way to webhooks and identity providers. @default there is none */
  readonly outbound?: Outbound
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
const nowhere = { address: '192.0.2.1', port: 6443 }

/** An API server without a socket: give its `handler` to a transport. */
export interface ApiServer {
  readonly handler: Handler
  /** Resolves when `/readyz` is 200; rejects when the start fails. */
  readonly ready: Promise<void>
  /** Loads the store, serves until `signal` aborts, and resolves when everything has stopped. */
  run(signal: AbortSignal): Promise<void>
}

/** Upstream's order. */
export const defaultAdmissionPlugins: readonly AdmissionPlugin[] = [
  namespaceLifecycle,
  limitRanger,
  serviceAccount,
  taintNodesByCondition,
  podSecurity,
  priority,
  defaultTolerationSeconds,
  defaultStorageClass,
  storageObjectInUseProtection,
  persistentVolumeClaimResize,
  runtimeClass,
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  defaultIngressClass,
  resourceQuota,
]

export function createApiServer(options: ApiServerOptions): ApiServer {
  const { env, store } = options
  const started = Promise.withResolvers<void>()
  started.promise.catch(() => {})
  let isReady = false

  const registry = new Registry()
  const cache = new WatchCache({ store, env })
  const healthChecks: HealthCheck[] = [
    { name: 'ping', check: () => undefined },
    { name: 'etcd', check: () => cache.failure && 'the store has failed' },
    {
      name: 'poststarthook/start-apiextensions-controllers',
      check: () => (isReady ? undefined : 'not finished'),
      readyOnly: true,
    },
  ]
  const state: ServerState = {
    env,
    store,
    cache,
    registry,
    documents: new Documents(registry),
    admission: createAdmission(options.admission ?? defaultAdmissionPlugins),
    healthChecks,
    network: {
      serviceRanges: parseServiceRanges(options.serviceClusterIpRange ?? defaultServiceRange),
      advertise: options.advertise ?? (() => nowhere),
    },
    authenticators: options.authenticators ?? [authenticateCertificate],
    authorizer: options.authorizer ?? authorizeMasters,
    outbound: options.outbound ?? noOutbound,
  }
  const waitForStart: Filter = (context, next) => {
    if (isReady || !context.info.isResource) return next(context)
    const { status } = newServiceUnavailable('the server is starting')
    throw new StatusError({ ...status, details: { retryAfterSeconds: 1 } })
  }
  /** Every request passes these, first to last. */
  const filters: readonly Filter[] = [
    answerErrors,
    createTimeout(env.clock),
    createAuthenticate(state.authenticators),
    createInFlightLimit(),
    createAuthorize(state.authorizer),
    waitForStart,
  ]
  const handle = compose(filters, route)

  return {
    handler: request => handle(createContext(state, request)),
    ready: started.promise,
    async run(signal) {
      await using group = new TaskGroup(signal)
      try {
        await cache.load()
        for (const info of builtinResources()) {
          const strategy = strategyFor(info.group, info.resource)
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
        group.spawn(cancel => crds.run(cancel))
        group.spawn(cancel => compactHistory(store, env, cancel))
        group.spawn(cancel => keepAddresses(state, cancel))
        group.spawn(cancel => keepKubernetesService(state, cancel))
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
      }
    },
  }
}

function createContext(state: ServerState, request: WireRequest): RequestContext {
  const path = parsePath(request.path)
  const query = parseQuery(request.query)
  const info = parseRequestInfo(request.method, request.path, path.segments, query)
  return { state, request, path, query, info, user: anonymous, warnings: [], auditAnnotations: new Map() }
}
