import { type KindSelector, selectResources } from '@coxswain/api'
import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import type { Env } from '@coxswain/kit'
import { MetricsRegistry } from '@coxswain/kit/metrics'
import type { Store } from '@coxswain/storage'
import type { VerifySignature } from '@coxswain/strategies'
import { parseServiceRanges } from '@coxswain/strategies/service'
import type { AdmissionPlugin } from './admission/admission.ts'
import { defaultAdmissionPlugins } from './admission/plugins.ts'
import type { ProxyClient } from './aggregation/extension-servers.ts'
import type { Auditing } from './audit/auditing.ts'
import type { AuthenticationOptions } from './authentication/authentication.ts'
import { type AuthorizerFactory, defaultAuthorizer } from './authorization/authorizer-factory.ts'
import type { OwnResources } from './custom-resources/own-resource.ts'
import type { ComponentCheck } from './endpoints/health.ts'
import { defaultInFlightLimits, type InFlightLimits } from './filters/limits.ts'
import type { YamlReader } from './filters/request-body.ts'
import { type Dialer, noDialer } from './nodes/dialer.ts'
import type { KubeletClient } from './nodes/kubelet.ts'
import type { NodeConnection } from './nodes/node-connection.ts'
import type { AcceptSpdy } from './nodes/spdy.ts'
import { noOutbound, type Outbound } from './outbound/outbound.ts'
import type { WebhookAuthentication } from './outbound/webhook-client.ts'
import type { Compression } from './request/compression.ts'
import type { Advertised, ClusterNetwork } from './request/context.ts'

/** The options of an API server, by concern. */
export interface ApiServerOptions {
  readonly env: Env
  /** The persistent state. It belongs to the caller, who closes it after `run` has resolved. */
  readonly store: Store
  /** The built-in kinds that are served. Namespaces always are, unless the list is empty. @default all of Kubernetes 1.36 */
  readonly kinds?: readonly KindSelector[]
  /** Resources that are defined in code, beside the built-in kinds and CustomResourceDefinitions. @default none */
  readonly resources?: OwnResources
  /** How requests are authenticated. @default by client certificate */
  readonly authentication?: AuthenticationOptions
  /** @default {@link defaultAuthorizer}: `system:masters` may do everything, other users what RBAC grants them */
  readonly authorizer?: AuthorizerFactory
  /** @default the plug-ins that kube-apiserver enables by default */
  readonly admission?: AdmissionOptions
  /** The store has what every cluster has from the start, so that it is neither created nor compared. @default false */
  readonly isBootstrapped?: boolean
  /** How many requests are served at once. @default the limits of kube-apiserver, with priority and fairness */
  readonly limits?: LimitOptions
  /** How long events are kept, in milliseconds; 0 for no limit. @default an hour */
  readonly eventTtl?: number
  /** How kubelets and Pods are reached. @default not at all */
  readonly nodes?: NodeOptions
  /** @default services in 10.96.0.0/12 */
  readonly network?: NetworkOptions
  /** How webhooks and identity providers are reached. @default not at all */
  readonly outbound?: Outbound
  /** How extension API servers are reached, beside `outbound` and `nodes.dialer`. @default without a client certificate */
  readonly aggregation?: AggregationOptions
  /** The audit policy and where events are written. @default no audit log */
  readonly audit?: Auditing
  /** Served at `/metrics`; pass one to add metrics of the process. @default a registry of the server's own */
  readonly metrics?: MetricsRegistry
  /** Components for `kubectl get componentstatuses` besides the store, by name. @default none */
  readonly components?: Readonly<Record<string, ComponentCheck>>
  /** Platform-specific functions. @default none */
  readonly platform?: PlatformOptions
}

/** The admission chain and its credentials. */
export interface AdmissionOptions {
  /** In the order in which they run. @default {@link defaultAdmissionPlugins} */
  readonly plugins?: readonly AdmissionPlugin[]
  /** Client credentials for admission webhooks. @default none */
  readonly webhookAuthentication?: WebhookAuthentication
  /**
   * Whether the expressions of ValidatingAdmissionPolicies are type-checked and the result written to their status, as the
   * controller manager of Kubernetes does. @default false
   */
  readonly checkPolicyTypes?: boolean
}

/** How many requests run at once, and whether others wait. */
export interface LimitOptions {
  /** Requests served at once. @default 400 that read and 200 that write */
  readonly inFlight?: Partial<InFlightLimits>
  /**
   * Whether requests over the limit wait in the queues of their FlowSchema; without it they are rejected with a 429.
   * @default true
   */
  readonly priorityAndFairness?: boolean
}

/** How kubelets and Pods are reached. */
export interface NodeOptions {
  /** A direct connection to kubelets in this process: logs, exec, attach and port-forward. @default none */
  readonly connection?: NodeConnection
  /** Dials Pods, and kubelets of nodes that `connection` does not know. @default no address can be reached */
  readonly dialer?: Dialer
  /** Credentials for dialled kubelets; called for every connection. @default no client certificate, any server certificate */
  readonly kubelets?: () => KubeletClient
  /**
   * Whether `metrics.k8s.io` is served from what kubelets report, as metrics-server does: `kubectl top`, autoscaling.
   * @default where there is a `connection`
   */
  readonly resourceMetrics?: boolean
  /** Speaks SPDY, which port-forward of every kubectl needs, and exec and attach before 1.31. @default WebSocket only */
  readonly acceptSpdy?: AcceptSpdy
}

/** How the API server identifies itself to extension API servers. */
export interface AggregationOptions {
  /**
   * The client certificate of the front proxy, of the CA that `authentication.trust` publishes as `requestheader-client-ca-file`; called
   * for every request. @default none: extension API servers treat requests as anonymous
   */
  readonly proxyClient?: () => ProxyClient | undefined
}

/** The addresses of Services and of the API server itself. */
export interface NetworkOptions {
  /** The CIDR of service addresses; two of different families, separated by a comma, for dual-stack. @default 10.96.0.0/12 */
  readonly serviceClusterIpRange?: string
  /**
   * The endpoint of the service `kubernetes`; called at start, and after the EndpointSlice was deleted.
   * @default 192.0.2.1 (reserved for documentation), port 6443
   */
  readonly advertise?: () => Advertised | Promise<Advertised>
}

/** Functions that the core cannot implement. `@coxswain/apiserver/node` and `@coxswain/wire/node` have them for Node.js. */
export interface PlatformOptions {
  /** Compresses large answers for clients that accept gzip. @default answers are not compressed */
  readonly compression?: Compression
  /** Parses large YAML bodies on another thread. @default they are parsed on the thread of the server */
  readonly readLargeYaml?: YamlReader
  /** Verifies the signature of a CertificateSigningRequest. @default such requests are rejected as unverifiable */
  readonly verifySignature?: VerifySignature
}

/** {@link ApiServerOptions} with every default filled in; undefined means disabled. */
export interface ResolvedOptions {
  readonly env: Env
  readonly store: Store
  readonly kinds: readonly ResourceInfo[]
  readonly resources: OwnResources
  readonly authentication: AuthenticationOptions
  readonly authorizer: AuthorizerFactory
  readonly admission: Required<Pick<AdmissionOptions, 'plugins' | 'checkPolicyTypes'>> &
    Pick<AdmissionOptions, 'webhookAuthentication'>
  readonly isBootstrapped: boolean
  readonly limits: { readonly inFlight: InFlightLimits; readonly priorityAndFairness: boolean }
  readonly eventTtl: number | undefined
  readonly nodes: Required<Pick<NodeOptions, 'dialer' | 'kubelets' | 'resourceMetrics'>> &
    Pick<NodeOptions, 'connection' | 'acceptSpdy'>
  readonly network: ClusterNetwork
  readonly outbound: Outbound
  readonly aggregation: Required<AggregationOptions>
  readonly audit: Auditing | undefined
  readonly metrics: MetricsRegistry
  readonly components: Readonly<Record<string, ComponentCheck>>
  readonly platform: PlatformOptions
}

const defaults = {
  kinds: ['all'],
  plugins: defaultAdmissionPlugins,
  checkPolicyTypes: false,
  priorityAndFairness: true,
  dialer: noDialer,
  kubelets: (): KubeletClient => ({}),
  serviceClusterIpRange: '10.96.0.0/12',
  proxyClient: (): undefined => undefined,
  advertise: (): Advertised => ({ address: '192.0.2.1', port: 6443 }),
}

/** Throws an Error for an unknown kind, and for a service range that cannot be parsed. */
export function resolveOptions(options: ApiServerOptions): ResolvedOptions {
  const { admission, limits, nodes, network } = options
  return {
    env: options.env,
    store: options.store,
    kinds: options.kinds?.length === 0 ? [] : selectResources(options.kinds ?? defaults.kinds),
    resources: options.resources ?? (() => []),
    authentication: options.authentication ?? {},
    authorizer: options.authorizer ?? defaultAuthorizer,
    admission: {
      plugins: defaults.plugins,
      checkPolicyTypes: defaults.checkPolicyTypes,
      ...admission,
    },
    isBootstrapped: options.isBootstrapped ?? false,
    limits: {
      inFlight: { ...defaultInFlightLimits, ...limits?.inFlight },
      priorityAndFairness: limits?.priorityAndFairness ?? defaults.priorityAndFairness,
    },
    eventTtl: options.eventTtl,
    nodes: {
      dialer: defaults.dialer,
      kubelets: defaults.kubelets,
      resourceMetrics: nodes?.connection !== undefined,
      ...nodes,
    },
    network: {
      serviceRanges: parseServiceRanges(network?.serviceClusterIpRange ?? defaults.serviceClusterIpRange),
      advertise: network?.advertise ?? defaults.advertise,
    },
    outbound: options.outbound ?? noOutbound,
    aggregation: { proxyClient: options.aggregation?.proxyClient ?? defaults.proxyClient },
    audit: options.audit,
    metrics: options.metrics ?? new MetricsRegistry(),
    components: options.components ?? {},
    platform: options.platform ?? {},
  }
}
