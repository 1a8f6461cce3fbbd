import type { ObjectMeta } from '@coxswain/apimachinery/meta'

export type { Apply } from '@coxswain/apimachinery/kinds'

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
