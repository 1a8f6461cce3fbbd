import { allTables, findType } from '../registry.ts'
import { aboutKind } from '../resources/builtin-resources.ts'
import { type Definition, definitionOf, specialDefinition } from '../table/definition.ts'
import { specialNames, type TypeRow } from '../table/table.ts'
import { Members } from './members.ts'
import { explainObjectMeta } from './object-meta.ts'

export interface GroupVersionKind {
  readonly group: string
  readonly kind: string
  readonly version: string
}

/** Types of meta/v1 that every group and version registers. */
const registeredEverywhere: ReadonlySet<string> = new Set(['DeleteOptions', 'WatchEvent'])
/** Types of meta/v1 that are kinds of the core group. */
const coreKinds: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'Status',
])
const specials: ReadonlySet<string> = new Set(Object.values(specialNames))

/** Says where the definitions of custom resources are and which of a type's kinds a document shows. */
export interface DefinitionSource {
  readonly version: 2 | 3
  /** What stands before a name in `$ref`. */
  readonly prefix: string
  readonly custom: (name: string) => CustomDefinition | undefined
  readonly isShown: (kind: GroupVersionKind) => boolean
}

/** The definition of a type that is not built in, made when it is written, and the full names of the types it refers to. */
export interface CustomDefinition {
  readonly definition: () => Definition
  readonly references: readonly string[]
}

/** The definitions of `names` and of all they refer to, sorted by name. */
export function definitionsOf(names: Iterable<string>, source: DefinitionSource): Members {
  return new Members(function* () {
    const found = new Map<string, () => Definition>()
    const pending = [...names]
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (found.has(name)) continue
      found.set(name, define(name, source, pending))
      yield undefined
    }
    for (const name of [...found.keys()].sort()) yield [name, found.get(name)!()]
  })
}

function define(name: string, source: DefinitionSource, pending: string[]): () => Definition {
  const { version } = source
  if (specials.has(name)) return () => specialDefinition(name.slice(name.lastIndexOf('.') + 1), { version })
  const row = findType(name)
  if (row === undefined) {
    const custom = source.custom(name)
    for (const item of custom?.references ?? []) pending.push(item)
    return custom?.definition ?? (() => ({ type: 'object' }))
  }
  const reference = (other: string): string => {
    pending.push(other)
    return source.prefix + other
  }
  const definition = explainObjectMeta(name, definitionOf(row, { version, reference }))
  const kinds = kindsOf(row).filter(source.isShown)
  if (kinds.length === 0) return () => definition
  const description = row.isKind ? aboutKind(row.table.group, row.short) : undefined
  return () => ({
    ...(description !== undefined && { description }),
    ...definition,
    'x-kubernetes-group-version-kind': kinds,
  })
}

function kindsOf(row: TypeRow): readonly GroupVersionKind[] {
  const { group, version, alias } = row.table
  const kind = row.short
  if (alias === 'meta.v1') {
    if (registeredEverywhere.has(kind))
      return registeredVersions().map(one => ({ group: one.group, kind, version: one.version }))
    return coreKinds.has(kind) ? [{ group: '', kind, version: 'v1' }] : []
  }
  return row.isKind ? [{ group, kind, version }] : []
}

let registered: readonly { group: string; version: string }[] | undefined

function registeredVersions(): readonly { group: string; version: string }[] {
  registered ??= allTables()
    .filter(table => table.version !== '' && !/^(meta|apidiscovery)\./.test(table.alias))
    .map(({ group, version }) => ({ group, version }))
    .sort((a, b) => (`${a.group}/${a.version}` < `${b.group}/${b.version}` ? -1 : 1))
  return registered
}
