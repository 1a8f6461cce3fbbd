import type { JsonObject } from '@coxswain/apimachinery/json'
import type { VersionInfo } from '@coxswain/apimachinery/kinds'
import type { GroupVersionKind } from '@coxswain/apimachinery/meta'
import type { ServedResource } from '../registry/served-resource.ts'
import type { UserInfo } from '../request/context.ts'
import type { AdmissionPorts } from './ports.ts'

/** What is about to be done. */
export interface Attributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly resource: ServedResource
  /** The version of the resource that the client used, and that objects are in. */
  readonly version: VersionInfo
  readonly subresource: string
  readonly namespace: string
  /** Empty where it is not known yet, and for each object of a deleted collection. */
  readonly name: string
  /** What the objects are, where an endpoint takes a kind of its own (Scale, Binding). @default the resource's kind */
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
  /** Sends a text in a `Warning` header, whatever becomes of the request. */
  readonly warn?: (text: string) => void
  /** Notes something of the request in the audit log; what is noted first stays. */
  readonly annotate?: (key: string, value: string) => void
  /** Aborts when the client goes away. */
  readonly signal?: AbortSignal | undefined
}
