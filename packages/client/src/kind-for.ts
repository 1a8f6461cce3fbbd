import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject, ObjectMeta } from '@coxswain/apimachinery/meta'
import type { Schema } from '@coxswain/apimachinery/schema'

/** An object of a kind whose fields are not known to the type system. */
export interface DynamicObject extends ApiObject {
  [field: string]: unknown
}

/** What may be sent to create or apply one. */
export interface DynamicInput {
  metadata: ObjectMeta
  [field: string]: unknown
}

/** A kind without static types. */
export type DynamicKind = Kind<DynamicObject, DynamicInput, DynamicInput>

/** The names of a kind. */
export interface KindNames {
  /** @default '' (the core group) */
  readonly group?: string
  readonly version: string
  readonly kind: string
  /** The plural, as in URLs. */
  readonly resource: string
  readonly namespaced: boolean
  /** @default the kind in lower case */
  readonly singular?: string
  /** @default the kind and `List` */
  readonly listKind?: string
}

/** A kind known by name only: from discovery, a CRD, or a configuration. */
export function kindFor(names: KindNames): DynamicKind {
  const { group = '', version, kind, resource, namespaced } = names
  return {
    group,
    version,
    kind,
    resource,
    namespaced,
    singular: names.singular ?? kind.toLowerCase(),
    listKind: names.listKind ?? `${kind}List`,
    schema: () => anything,
  }
}

const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** An object of which only the metadata was requested. */
export interface PartialObjectMetadata extends ApiObject {
  apiVersion: 'meta.k8s.io/v1'
  kind: 'PartialObjectMetadata'
}

/** A kind whose objects are read without spec and status: `client.list(metadataOf(Secret))`. */
export interface MetadataKind extends Kind<PartialObjectMetadata, never, never> {
  readonly metadataOnly: true
}

/** The same collection, metadata only. Reads, watches, patches and deletions work; create, update and apply do not. */
export function metadataOf(kind: Kind): MetadataKind {
  const { group, version, resource, singular, namespaced, schema, listKind } = kind
  return {
    group,
    version,
    kind: kind.kind,
    listKind,
    resource,
    singular,
    namespaced,
    schema,
    metadataOnly: true,
  }
}

/** Whether only the metadata of a kind is read. */
export function isMetadataKind(kind: Kind): kind is MetadataKind {
  return 'metadataOnly' in kind && kind.metadataOnly === true
}
