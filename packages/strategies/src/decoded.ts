import type { ApiObject, ObjectMeta } from '@coxswain/apimachinery/meta'

/**
 * A `T` as the decoder leaves it, before anything is validated. Every member may be absent: Go leaves out empty values,
 * and clients leave out required ones. Lists and maps may also be null, which Go writes for an empty one that is not
 * optional. Enums are any string, because validation is what checks their values. The metadata of an object is there.
 *
 * Integers beyond 2^53 are `bigint` at run time: compare them freely, and take `numberOf` before any arithmetic.
 */
export type Decoded<T> = T extends ApiObject
  ? { metadata: DecodedMembers<ObjectMeta> } & DecodedMembers<Omit<T, 'metadata'>>
  : string extends keyof T
    ? T
    : NonNullable<DecodedValue<T>>

type DecodedMembers<T> = { [P in keyof T]?: DecodedValue<T[P]> }

type DecodedValue<T> = T extends string
  ? string
  : T extends readonly (infer E)[]
    ? DecodedValue<E>[] | null
    : T extends object
      ? string extends keyof T
        ? { [key: string]: DecodedValue<T[keyof T]> } | null
        : DecodedMembers<T>
      : T
