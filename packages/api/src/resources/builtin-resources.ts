import type {
  PrinterColumn,
  ResourceInfo,
  SubresourceInfo,
  Verb,
  VersionInfo,
} from '@coxswain/apimachinery/kinds'
import { tableOf } from '../registry.ts'
import { schemaOf } from '../table/schema.ts'
import { rowOf } from '../table/table.ts'
import { coreRows } from './core.ts'
import { namedGroupRows } from './groups.ts'
import type { GroupRows, ResourceRow } from './row.ts'

const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]
const subresourceVerbs: readonly Verb[] = ['get', 'patch', 'update']

let resources: readonly ResourceInfo[] | undefined

/** Every resource that Kubernetes 1.36 serves by default, in the order of discovery. Made on first use, then kept. */
export function builtinResources(): readonly ResourceInfo[] {
  resources ??= [coreRows, ...namedGroupRows].flatMap(rows =>
    rows.resources.map(row => resourceInfo(rows, row)),
  )
  return resources
}

/** What a built-in kind is for, in one sentence. */
export function aboutKind(group: string, kind: string): string | undefined {
  const rows = group === '' ? coreRows : namedGroupRows.find(candidate => candidate.group === group)
  return rows?.resources.find(row => row.kind === kind)?.about
}

/** Whether `info` is one of the built-in resources. */
export function isBuiltinResource(info: ResourceInfo): boolean {
  return findRow(info) !== undefined
}

/** Whether upstream's OpenAPI says that a delete answers with the object. What the server does is another matter. */
export function returnsDeletedInOpenApi(info: ResourceInfo): boolean {
  return findRow(info)?.documentsDeleted === true
}

function findRow({ group, resource }: ResourceInfo): ResourceRow | undefined {
  const rows = group === '' ? coreRows : namedGroupRows.find(candidate => candidate.group === group)
  return rows?.resources.find(row => row.resource === resource)
}

function resourceInfo(rows: GroupRows, row: ResourceRow): ResourceInfo {
  return {
    group: rows.group,
    resource: row.resource,
    singular: row.kind.toLowerCase(),
    kind: row.kind,
    listKind: `${row.kind}List`,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    namespaced: row.cluster !== true,
    versions: rows.versions.map((name, index) => versionInfo(rows, row, { name, isStorage: index === 0 })),
    ...(row.storedAs && { storedAs: row.storedAs }),
  }
}

function versionInfo(
  rows: GroupRows,
  row: ResourceRow,
  version: { name: string; isStorage: boolean },
): VersionInfo {
  return {
    name: version.name,
    served: true,
    storage: version.isStorage,
    verbs: row.verbs ?? allVerbs,
    schema: () => schemaOf(rowOf({ table: tableOf(rows.group, version.name), short: row.kind })),
    columns: row.columns ? row.columns.split('|').map(parseColumn) : [],
    selectableFields: row.fields ? row.fields.split(' ') : [],
    subresources: (row.subresources ?? []).map(parseSubresource),
  }
}

const columnTypes: Readonly<Record<string, PrinterColumn['type']>> = {
  '#': 'integer',
  '?': 'boolean',
  '@': 'date',
}

function parseColumn(text: string): PrinterColumn {
  const isWide = text.endsWith('+')
  const [head = '', format] = (isWide ? text.slice(0, -1) : text).split(':')
  const type = columnTypes[head.at(-1) ?? '']
  return {
    name: type ? head.slice(0, -1) : head,
    type: type ?? 'string',
    ...(format !== undefined && { format }),
    priority: isWide ? 1 : 0,
  }
}

function parseSubresource(text: string): SubresourceInfo {
  const [head = '', verbs] = text.split(': ')
  const [name = '', target] = head.split(' ')
  const common = { name, verbs: verbs ? (verbs.split(' ') as Verb[]) : subresourceVerbs }
  if (target === undefined) return common
  const parts = target.split('/')
  if (parts.length === 1) return { ...common, kind: target }
  const [group = '', version = '', kind = ''] = parts
  return { ...common, group, version, kind }
}
