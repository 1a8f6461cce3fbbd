import type { Env } from '@coxswain/kit'
import type { MetricsRegistry } from '@coxswain/kit/metrics'
import type { Store } from '@coxswain/storage'
import type { GrantReader, UserInfo, VerifySignature } from '@coxswain/strategies'
import type { ParsedPath, QueryParameters, WireRequest } from '@coxswain/wire'
import type { Admission } from '../admission/admission.ts'
import type { ResolvedAuthentication } from '../authentication/authentication.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import type { Turns } from '../cache/slices.ts'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { Documents } from '../discovery/documents.ts'
import type { ComponentCheck, HealthCheck } from '../endpoints/health.ts'
import type { FlowControl } from '../flow-control/flow-control.ts'
import type { Dialer } from '../nodes/dialer.ts'
import type { KubeletClient } from '../nodes/kubelet.ts'
import type { NodeConnection } from '../nodes/node-connection.ts'
import type { AcceptSpdy } from '../nodes/spdy.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { WebhookClient } from '../outbound/webhook-client.ts'
import type { Registry } from '../registry/registry.ts'
import type { Compression } from './compression.ts'
import type { RequestInfo, ResourceRequestInfo } from './request-info.ts'
import type { Warnings } from './warnings.ts'

export type { UserInfo }

/** Where services and the API server itself are to be found. */
export interface ClusterNetwork {
  /** CIDRs of which services get their addresses, one a family, the default family first. */
  readonly serviceRanges: readonly string[]
  /** Where the endpoints of the service `kubernetes` point to. */
  readonly advertise: () => Advertised | Promise<Advertised>
}

/** Where others find the API server. */
export interface Advertised {
  /** Not a loopback address. */
  readonly address: string
  readonly port: number
}

/** What all requests share. */
export interface ServerState {
  readonly env: Env
  readonly store: Store
  readonly cache: WatchCache
  readonly registry: Registry
  readonly documents: Documents
  /** For work that takes long: others go on meanwhile. */
  readonly turns: Turns
  readonly admission: Admission
  readonly healthChecks: readonly HealthCheck[]
  /** The other parts of the control plane, by the names `componentstatuses` has for them. */
  readonly components: Readonly<Record<string, ComponentCheck>>
  /** What `/metrics` shows. */
  readonly metrics: MetricsRegistry
  readonly network: ClusterNetwork
  /** For signatures of CertificateSigningRequests. */
  readonly verifySignature: VerifySignature | undefined
  readonly authentication: ResolvedAuthentication
  readonly authorizer: Authorizer
  /** What RBAC grants, for rules that guard against escalation. */
  readonly grants: GrantReader
  /** Who waits when there is too much to do. */
  flow?: FlowControl
  /** How the server reaches webhooks and identity providers. */
  readonly outbound: Outbound
  /** The way to the nodes' agents, where there is one. */
  readonly nodes?: NodeConnection
  /** The way to Pods and kubelets of other nodes. */
  readonly dialer: Dialer
  /** What kubelets of other nodes are shown, and expected to show. */
  readonly kubelets: () => KubeletClient
  /** For pages that come compressed through a proxy. */
  readonly compression?: Compression
  /** Speaks SPDY with clients of `exec`, `attach` and `portforward`, where that is possible. */
  readonly acceptSpdy?: AcceptSpdy
  /** Calls webhooks by their `clientConfig`. */
  readonly webhooks: WebhookClient
}

/** What a request has of the server's attention, where flow control gives it out. */
export interface RequestSeat {
  /** Gives it back for a while. */
  readonly leave: () => void
  readonly isLeft: boolean
  /** Waits for another one. Rejects with a 429 when there is none. */
  readonly take: () => Promise<void>
}

/** One request on its way through the filters to its handler. */
export interface RequestContext {
  readonly state: ServerState
  readonly env: Env
  /** Replaced by filters that take headers out. */
  request: WireRequest
  readonly path: ParsedPath
  readonly query: QueryParameters
  readonly info: RequestInfo
  /** Set by flow control for requests whose body is still to come. */
  seat?: RequestSeat
  /** Set by the authentication filter, and again by the impersonation filter. */
  user: UserInfo
  /** Who sent the request when `user` is impersonated, and the constrained verb that allowed it (empty: `impersonate`). */
  impersonation?: { readonly requester: UserInfo; readonly constraint: string }
  /** What strict decoding has against a body of YAML that came as JSON to this place. */
  yamlProblems?: readonly string[]
  /** Texts for `Warning` headers; they go out with errors too. */
  readonly warnings: Warnings
  /** What filters and admission have to say of the request in the audit log; filled as they go. */
  readonly auditAnnotations: Map<string, string>
  /** Under which the request is in the audit log. */
  auditId?: string
}

/** A context whose request is about a resource. */
export type ResourceContext = RequestContext & { readonly info: ResourceRequestInfo }
