import type { ObjectMeta } from '../meta/meta.ts'
import type { Schema } from '../schema/schema.ts'

declare const mapKeys: unique symbol

/** A list whose items are identified by the fields `K`: a plain array that applies merge by them. */
export type ListMap<T, K extends PropertyKey> = T[] & { readonly [mapKeys]?: K }

/** Whether a field is required, optional, or defaulted. */
export type Presence = 'required' | 'optional' | 'default'

/**
 * What every builder carries at the type level: the value as read, as sent to create it, as applied, and its presence.
 * None of it exists at run time. Plain required members, because optional ones cost the compiler an instantiation each.
 */
export interface Carried {
  readonly '~read': unknown
  readonly '~create': unknown
  readonly '~apply': unknown
  readonly '~presence': Presence
}

export type ReadOf<B extends Carried> = B['~read']
export type CreateValueOf<B extends Carried> = B['~create']
export type ApplyValueOf<B extends Carried> = B['~apply']

export type Fields = Readonly<Record<string, Carried>>

/** An object as the server returns it: defaulted fields are present. */
export type ReadFields<P extends Fields> = {
  [K in keyof P as P[K]['~presence'] extends 'optional' ? never : K]: P[K]['~read']
} & {
  [K in keyof P as P[K]['~presence'] extends 'optional' ? K : never]?: P[K]['~read']
}

/** An object as it may be sent: defaulted fields may be omitted. */
export type CreateFields<P extends Fields> = {
  [K in keyof P as P[K]['~presence'] extends 'required' ? K : never]: P[K]['~create']
} & {
  [K in keyof P as P[K]['~presence'] extends 'required' ? never : K]?: P[K]['~create']
}

/** An object as it may be applied: nothing is required. */
export type ApplyFields<P extends Fields> = { [K in keyof P]?: P[K]['~apply'] }

/** An item of a list map as it may be applied: its keys are required. */
export type ApplyKeyed<I extends Carried, K extends keyof I['~read']> = I['~apply'] & Pick<I['~read'], K>

/** The same for types from elsewhere: everything is optional except the keys of list maps. */
export type ApplyField<V> = V extends readonly (infer E)[]
  ? typeof mapKeys extends keyof V
    ? ApplyItem<E, Extract<Exclude<V[typeof mapKeys], undefined>, keyof E>>[]
    : ApplyField<E>[]
  : V extends object
    ? { [P in keyof V]?: ApplyField<V[P]> }
    : V

export type ApplyItem<E, K extends keyof E> = { [P in Exclude<keyof E, K>]?: ApplyField<E[P]> } & {
  [P in K]-?: NonNullable<E[P]>
}

/** What may be sent to apply a `T`: everything is optional except the name and the keys of list maps. */
export type Apply<T> = {
  apiVersion?: T extends { apiVersion: infer V } ? V : never
  kind?: T extends { kind: infer K } ? K : never
  metadata: ObjectMeta & { name: string }
} & { [P in Exclude<keyof T, 'apiVersion' | 'kind' | 'metadata'>]?: ApplyField<T[P]> }

/** What `s.ref` takes: a value that has a schema and carries a type, such as a built-in type or kind of `@coxswain/api`. */
export interface SchemaRef<T = unknown> {
  readonly schema: () => Schema
  /** Does not exist at run time. */
  readonly types?: { readonly object: T }
}
