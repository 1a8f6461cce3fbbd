import type { GroupRows } from '../../packages/api/src/resources/row.ts'
import { type Table, type TypeRow, typeRows } from '../../packages/api/src/table/table.ts'
import {
  header,
  isFromMachinery,
  isStoredKind,
  kindsModule,
  metaModule,
  requiredToCreate,
} from './types-writer.ts'

/** The export that holds a table: `core_v1`. */
export function tableName(table: Table): string {
  return table.alias.replaceAll('.', '_')
}

/** The entry point of one group and version: a value and a type for each kind and each type it is made of. */
export function writeKinds(table: Table, served: GroupRows | undefined): string {
  const lines: string[] = []
  const typesOnly: string[] = []
  const helpers = new Set<string>()
  for (const row of typeRows(table).values()) {
    if (isFromMachinery(row)) lines.push(`export type { ${row.short} } from '${metaModule}'`)
    else if (row.isKind && row.short.endsWith('List')) typesOnly.push(row.short)
    else lines.push(...writeHandle(row, { served, helpers }))
  }
  const isUsed = (name: string): boolean => helpers.has(name)
  const handle = ['createKinds', 'createRefs', 'type Ref'].filter(isUsed)
  const variants = ['Apply', 'Create'].filter(isUsed)
  return [
    header.trimEnd(),
    ...(isUsed('Kind') ? [`import type { Kind } from '${kindsModule}'`] : []),
    `import { ${handle.join(', ')} } from '../../../handle.ts'`,
    ...(variants.length > 0 ? [`import type { ${variants.join(', ')} } from '../../../variants.ts'`] : []),
    `import { ${tableName(table)} as table } from '../../tables.ts'`,
    `import type * as T from '../../types/${table.alias}.ts'`,
    '',
    ...(isUsed('createKinds') ? ['const kind = createKinds(table)'] : []),
    ...(isUsed('createRefs') ? ['const ref = createRefs(table)'] : []),
    '',
    ...(typesOnly.length > 0
      ? [`export type { ${typesOnly.join(', ')} } from '../../types/${table.alias}.ts'`]
      : []),
    ...lines,
    '',
  ].join('\n')
}

interface Context {
  readonly served: GroupRows | undefined
  readonly helpers: Set<string>
}

function writeHandle(row: TypeRow, context: Context): string[] {
  const { short } = row
  const type = `export type ${short} = T.${short}`
  const resource = context.served?.resources.find(candidate => candidate.kind === short)
  if (resource === undefined || !isStoredKind(row)) {
    context.helpers.add('createRefs').add('type Ref')
    return [type, `export const ${short}: Ref<T.${short}> = ref('${short}')`]
  }
  context.helpers.add('createKinds').add('Create').add('Apply').add('Kind')
  const required = requiredToCreate(row)
    .map(name => `'${name}'`)
    .join(' | ')
  const create = `Create<T.${short}${required ? `, ${required}` : ''}>`
  const about = `/** ${resource.about} */`
  const scope = resource.cluster ? ", 'cluster'" : ''
  return [
    about,
    type,
    `export const ${short}: Kind<T.${short}, ${create}, Apply<T.${short}>> = kind('${short}', '${resource.resource}'${scope})`,
  ]
}
