import type { Env } from '@coxswain/kit'
import type { Store } from '@coxswain/storage'
import type { ParsedPath, QueryParameters, WireRequest } from '@coxswain/wire'
import type { Admission } from '../admission/admission.ts'
import type { Authenticator } from '../authn/authenticator.ts'
import type { Authorizer } from '../authz/authorizer.ts'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { Documents } from '../documents.ts'
import type { HealthCheck } from '../health.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Registry } from '../registry/registry.ts'
import type { RequestInfo, ResourceRequestInfo } from './request-info.ts'

/** Who is asking. */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

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
  readonly admission: Admission
  readonly healthChecks: readonly HealthCheck[]
  readonly network: ClusterNetwork
  readonly authenticators: readonly Authenticator[]
  readonly authorizer: Authorizer
  /** How the server reaches webhooks and identity providers. */
  readonly outbound: Outbound
}

/** One request on its way through the filters to its handler. */
export interface RequestContext {
  readonly state: ServerState
  readonly request: WireRequest
  readonly path: ParsedPath
  readonly query: QueryParameters
  readonly info: RequestInfo
  /** Set by the authentication filter. */
  user: UserInfo
  /** Texts for `Warning` headers; they go out with errors too. */
  readonly warnings: string[]
  /** What filters and admission have to say of the request in the audit log; filled as they go. */
  readonly auditAnnotations: Map<string, string>
}

/** A context whose request is about a resource. */
export type ResourceContext = RequestContext & { readonly info: ResourceRequestInfo }
