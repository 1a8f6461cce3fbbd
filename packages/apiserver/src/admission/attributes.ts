import type { JsonObject } from '@coxswain/apimachinery/json'
import type { VersionInfo } from '@coxswain/apimachinery/kinds'
import type { GroupVersionKind } from '@coxswain/apimachinery/meta'
import type { Span, TraceContext } from '@coxswain/kit'
import type { ServedResource } from '../registry/registry.ts'
import type { UserInfo } from '../request/context.ts'
import type { AdmissionPorts } from './ports.ts'

/** The operation being admitted. */
export interface Attributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly resource: ServedResource
  /** The version of the resource that the client used; objects are in this version. */
  readonly version: VersionInfo
  readonly subresource: string
  readonly namespace: string
  /** Empty when the name is not yet known, and for each object of a deletecollection. */
  readonly name: string
  /** The kind of the objects, for endpoints that take a kind of their own (Scale, Binding). @default the resource's kind */
  readonly kind?: GroupVersionKind
  /** Undefined for deletes. Mutating plug-ins may change it. */
  readonly object: JsonObject | undefined
  /** Undefined for creates. */
  readonly oldObject: JsonObject | undefined
  readonly dryRun: boolean
  /** The client's CreateOptions, UpdateOptions or DeleteOptions. */
  readonly options?: JsonObject
  readonly user: UserInfo
  /** What plug-ins may use of the server. */
  readonly server: AdmissionPorts
  /** Sends a text in a `Warning` header, whether the request succeeds or fails. */
  readonly warn?: (text: string) => void
  /** Adds an annotation to the audit event; the first value of a key wins. */
  readonly annotate?: (key: string, value: string) => void
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal | undefined
  /** What admission is a part of, where traces are made. */
  readonly span?: Span | undefined
  /** The trace of the request, which calls to webhooks belong to: the client's own where no traces are made. */
  readonly trace?: TraceContext | undefined
}
