import type { GroupResource } from '@coxswain/apimachinery/meta'
import type { Span } from '@coxswain/kit'

/** Members of a query; a list repeats the name, undefined leaves it out. */
export type QueryValues = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** One request, before it is encoded. */
export interface RestRequest {
  /** @default 'GET' */
  readonly method?: string
  /** Absolute and encoded: `/api/v1/pods`. */
  readonly path: string
  readonly query?: QueryValues
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes are sent as they are; anything else as JSON. */
  readonly body?: unknown
  /** @default 'application/json' */
  readonly contentType?: string
  /** @default 'application/json' */
  readonly accept?: string
  readonly signal?: AbortSignal
  /** Milliseconds for the whole call, retries included; 0 for no limit. @default the client's, none for `stream` */
  readonly timeout?: number
  /** The resource of the request, for error messages. */
  readonly resource?: GroupResource
  readonly name?: string
  /** What the call is a part of, where traces are made. @default the active span of the process */
  readonly span?: Span
}
