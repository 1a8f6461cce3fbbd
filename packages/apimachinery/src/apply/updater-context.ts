import type { PlainObject } from '../json/plain.ts'
import type { FieldSet } from './field-set.ts'
import type { TypeNode } from './type-node.ts'

/** What the updater needs to know about its kind. */
export interface UpdaterContext {
  /** The version of the request; `live`, `next` and `config` are of it. */
  readonly apiVersion: string
  /** `undefined` for a version that does not exist (any more). */
  readonly typeOf: (apiVersion: string) => TypeNode | undefined
  /** `object` in another version; `undefined` if there is no such version. */
  readonly convert: (object: PlainObject, apiVersion: string) => PlainObject | undefined
  /** Removes the fields from a set that the request cannot change. */
  readonly filter: (set: FieldSet, apiVersion: string) => FieldSet
}
