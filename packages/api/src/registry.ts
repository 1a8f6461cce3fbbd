import type { Schema } from '@coxswain/apimachinery/schema'
import { tables } from './gen/tables.ts'
import { schemaOf, specialSchemaOf } from './table/schema.ts'
import { type Table, type TypeRow, typeRows } from './table/table.ts'

let byGroupVersion: ReadonlyMap<string, Table> | undefined
let byPackage: ReadonlyMap<string, Table> | undefined

/** Every table of built-in types, also of versions that are not served by default. */
export function allTables(): readonly Table[] {
  return tables
}

/** The table of a group and version. It is an error to ask for one that upstream does not have. */
export function tableOf(group: string, version: string): Table {
  const table = findTable(group, version)
  if (table === undefined) throw new Error(`no built-in types of ${group}/${version}`)
  return table
}

/** The table of a group and version, if upstream has them. */
export function findTable(group: string, version: string): Table | undefined {
  byGroupVersion ??= new Map(tables.map(table => [`${table.group}/${table.version}`, table]))
  return byGroupVersion.get(`${group}/${version}`)
}

/** The row of a type by its full name, such as `io.k8s.api.core.v1.Container`. */
export function findType(name: string): TypeRow | undefined {
  byPackage ??= new Map(tables.map(table => [table.package, table]))
  const dot = name.lastIndexOf('.')
  const table = byPackage.get(name.slice(0, dot))
  return table && typeRows(table).get(name.slice(dot + 1))
}

/** The structural schema of a built-in type by its full name, such as `io.k8s.api.core.v1.Container`. */
export function builtinSchema(name: string): Schema | undefined {
  const special = specialSchemaOf(name)
  if (special !== undefined) return special
  const row = findType(name)
  return row && schemaOf(row)
}
