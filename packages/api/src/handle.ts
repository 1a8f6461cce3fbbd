import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import type { Schema } from '@coxswain/apimachinery/schema'
import { schemaOf } from './table/schema.ts'
import { rowOf, type Table } from './table/table.ts'

/** A built-in type that is not a kind, as a value: what `s.ref(Container)` takes. */
export interface Ref<T = unknown> {
  /** `io.k8s.api.core.v1.Container` */
  readonly name: string
  /** Decoded on first use, then kept. */
  readonly schema: () => Schema
  /** Never there at run time: carries the TypeScript type. */
  readonly types?: { readonly object: T }
}

/** Makes the handles of the types of a table. Nothing is decoded before a schema is asked for. */
export function createRefs(table: Table): <T>(short: string) => Ref<T> {
  return short => ({ name: `${table.package}.${short}`, schema: () => schemaOf(rowOf({ table, short })) })
}

/** Makes the handles of the kinds of a table. Nothing is decoded before a schema is asked for. */
export function createKinds(
  table: Table,
): <T extends ApiObject, Create, Apply>(
  kind: string,
  resource: string,
  scope?: 'cluster',
) => Kind<T, Create, Apply> {
  return (kind, resource, scope) => ({
    group: table.group,
    version: table.version,
    kind,
    listKind: `${kind}List`,
    resource,
    singular: kind.toLowerCase(),
    namespaced: scope !== 'cluster',
    schema: () => schemaOf(rowOf({ table, short: kind })),
  })
}
