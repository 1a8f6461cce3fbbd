import type { Schema } from '../schema/schema.ts'

/** Everything a server or a tool knows about one resource, as data. Built-in kinds and CRDs have the same form. */
export interface ResourceInfo {
  readonly group: string
  /** The plural. */
  readonly resource: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** In the order of preference. */
  readonly versions: readonly VersionInfo[]
  /** The input of discovery's storage hash, when it is not the group and the storage version. */
  readonly storedAs?: { readonly group: string; readonly version: string }
}

/** A resource at one version. */
export interface VersionInfo {
  readonly name: string
  readonly served: boolean
  /** Exactly one version of a resource is stored. */
  readonly storage: boolean
  readonly verbs: readonly Verb[]
  readonly schema: () => Schema
  readonly columns: readonly PrinterColumn[]
  /** Field selectors beyond metadata.name and metadata.namespace, such as `spec.nodeName`. */
  readonly selectableFields: readonly string[]
  readonly subresources: readonly SubresourceInfo[]
  /** Where a custom resource has the fields of its `scale` subresource. */
  readonly scale?: {
    readonly specReplicasPath: string
    readonly statusReplicasPath: string
    readonly labelSelectorPath?: string
  }
  /** The text of the deprecation warning, when the version is deprecated. */
  readonly deprecated?: string
}

/** A verb that a resource may support. */
export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

/** A subresource of one version. */
export interface SubresourceInfo {
  /** `status`, `scale`, `eviction`, ... */
  readonly name: string
  readonly verbs: readonly Verb[]
  /** Its kind, when it is not the parent's: `autoscaling/v1 Scale`. */
  readonly group?: string
  readonly version?: string
  readonly kind?: string
}

/** A column of a Table. */
export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** `name` marks the column of names. */
  readonly format?: string
  readonly description?: string
  /** Over 0: shown with `-o wide` only. */
  readonly priority: number
  /** The path of the cell's value. Absent for built-in kinds whose cells are computed by the server. */
  readonly jsonPath?: string
}
