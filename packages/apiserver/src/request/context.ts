import type { Env } from '@coxswain/kit'
import type { UserInfo } from '@coxswain/strategies'
import type { ParsedPath, QueryParameters, WireRequest } from '@coxswain/wire'
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
