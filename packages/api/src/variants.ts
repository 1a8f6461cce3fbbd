import type { ObjectMeta } from '@coxswain/apimachinery'

declare const mapKeys: unique symbol

/** A list whose elements are told apart by the fields `K` (and others with defaults): a plain array that applies merge by them. */
export type ListMap<T, K extends keyof T> = T[] & { readonly [mapKeys]?: K }

/**
 * What may be sent to create a `T`: the client knows apiVersion and kind, and the server fills in most of the metadata.
 * `Required` names the fields without which the server refuses it.
 */
export type Create<T, Required extends keyof T = never> = {
  apiVersion?: T extends { apiVersion: infer V } ? V : never
  kind?: T extends { kind: infer K } ? K : never
  metadata?: ObjectMeta
} & { [P in Exclude<keyof T, 'apiVersion' | 'kind' | 'metadata' | Required>]?: T[P] } & {
  [P in Required]: T[P]
}

/** What may be sent to apply a `T`: everything is optional except the name and the keys of list maps. */
export type Apply<T> = {
  apiVersion?: T extends { apiVersion: infer V } ? V : never
  kind?: T extends { kind: infer K } ? K : never
  metadata: ObjectMeta & { name: string }
} & { [P in Exclude<keyof T, 'apiVersion' | 'kind' | 'metadata'>]?: ApplyField<T[P]> }

/** A value inside of what is applied. */
export type ApplyField<V> = V extends readonly (infer E)[]
  ? typeof mapKeys extends keyof V
    ? ApplyElement<E, Extract<Exclude<V[typeof mapKeys], undefined>, keyof E>>[]
    : ApplyField<E>[]
  : V extends object
    ? { [P in keyof V]?: ApplyField<V[P]> }
    : V

/** An element of a list map: its keys say which one it is, so they stay required. */
export type ApplyElement<E, K extends keyof E> = { [P in Exclude<keyof E, K>]?: ApplyField<E[P]> } & {
  [P in K]-?: NonNullable<E[P]>
}
