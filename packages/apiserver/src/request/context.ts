import type { Env, Span } from '@coxswain/kit'
import type { UserInfo } from '@coxswain/strategies'
import type { ParsedPath, QueryParameters, WireRequest, WireResponse } from '@coxswain/wire'
import type { RequestInfo, ResourceRequestInfo } from './request-info.ts'
import type { Warnings } from './warnings.ts'

export type { UserInfo }

/** The addresses of Services and of the API server itself. */
export interface ClusterNetwork {
  /** CIDRs of Service addresses, one per IP family, the default family first. */
  readonly serviceRanges: readonly string[]
  /** The address that the endpoints of the Service `kubernetes` have. */
  readonly advertise: () => Advertised | Promise<Advertised>
}

/** The advertised address of the API server. */
export interface Advertised {
  /** Not a loopback address. */
  readonly address: string
  readonly port: number
}

/** The seat of a request, where flow control assigns one. */
export interface RequestSeat {
  /** Releases it for a while. */
  readonly leave: () => void
  readonly isLeft: boolean
  /** Waits for another one. Rejects with a 429 when there is none. */
  readonly take: () => Promise<void>
}

/** A request on its way through the filters to its handler. */
export interface RequestContext {
  readonly env: Env
  /** Replaced by filters that remove headers. */
  request: WireRequest
  readonly path: ParsedPath
  readonly query: QueryParameters
  readonly info: RequestInfo
  /** The handler of a request that belongs to another API server. */
  readonly delegate: ((context: RequestContext) => Promise<WireResponse> | WireResponse) | undefined
  /** Set by flow control for requests whose body is not yet received, and for those of other API servers. */
  seat?: RequestSeat
  /** Set by the authentication filter, and replaced by the impersonation filter. */
  user: UserInfo
  /** The sender of the request when `user` is impersonated, and the constrained verb that allowed it (empty: `impersonate`). */
  impersonation?: { readonly requester: UserInfo; readonly constraint: string }
  /** Strict decoding errors of a YAML body that was converted to JSON. */
  yamlProblems?: readonly string[]
  /** Texts for `Warning` headers; they go out with errors too. */
  readonly warnings: Warnings
  /** Audit annotations of filters and admission. */
  readonly auditAnnotations: Map<string, string>
  /** The audit id. */
  auditId?: string
  /** When it was received, as the tracer tells the time. Set only where traces are made, as is `span`. */
  receivedAt?: number
  /** The span that what happens now belongs to. */
  span?: Span
}

/** The context of a resource request. */
export type ResourceContext = RequestContext & { readonly info: ResourceRequestInfo }
