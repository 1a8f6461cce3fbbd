import type { ApiObject } from '../meta/meta.ts'
import type { Schema } from '../schema/schema.ts'

/**
 * A kind at one version: what clients, informers and controllers are generic over. Built-in kinds (`Pod`) and those of
 * `defineKind` (`At.v1alpha1`) have the same form.
 */
export interface Kind<T extends ApiObject = ApiObject, Create = unknown, Apply = unknown> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  /** The plural, as in URLs. */
  readonly resource: string
  readonly singular: string
  readonly namespaced: boolean
  /** Decoded on first use, then kept. */
  readonly schema: () => Schema
  /** Does not exist at run time: carries the types for reading, creating and applying. */
  readonly types?: { readonly object: T; readonly create: Create; readonly apply: Apply }
}

/** The type of an object of kind `K` as a server returns it. */
export type KindOf<K extends Kind> = NonNullable<K['types']>['object']
/** What may be sent to create one. */
export type CreateOf<K extends Kind> = NonNullable<K['types']>['create']
/** What may be sent to apply one: list-map keys stay required, everything else is optional. */
export type ApplyOf<K extends Kind> = NonNullable<K['types']>['apply']
