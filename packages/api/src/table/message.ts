import type { ElementType, FieldType, Message, MessageField } from '@coxswain/apimachinery/protobuf'
import { rowOf, type SpecialType, type TypeExpression, type TypeRow, typeRows } from './table.ts'

const messages = new WeakMap<TypeRow, Message>()

/** The protobuf message of a built-in type. Made on first use, then kept; the types it holds follow when they are met. */
export function messageOf(row: TypeRow): Message {
  let message = messages.get(row)
  if (message === undefined) {
    const fields = row.fields
      .filter(field => field.number > 0)
      .map(({ json, number, type, omit }): MessageField => ({ json, number, type: fieldType(type), omit }))
      .sort((a, b) => a.number - b.number)
    message = { name: row.name, fields }
    messages.set(row, message)
  }
  return message
}

function fieldType(type: TypeExpression): FieldType {
  if (type.form === 'list' && !type.wrapped) return { form: 'list', element: elementType(type.element) }
  if (type.form === 'map') return { form: 'map', element: elementType(type.element) }
  return elementType(type)
}

function elementType(type: TypeExpression): ElementType {
  switch (type.form) {
    case 'basic':
      if (type.basic === 'any') return { form: 'known', known: 'json', pointer: true }
      return { form: 'scalar', scalar: type.basic, pointer: type.pointer }
    case 'special':
      return { form: 'known', known: wellKnown[type.special], pointer: type.pointer }
    case 'list':
      return { form: 'wrapped', element: elementType(type.element) }
    case 'map':
      throw new Error('protobuf has no maps inside of lists and maps')
    case 'ref': {
      const row = rowOf(type)
      if (row.isSpecial) return schemaUnion(row, type.pointer)
      return { form: 'message', message: () => messageOf(row), pointer: type.pointer }
    }
  }
}

const wellKnown = {
  time: 'time',
  microtime: 'microtime',
  quantity: 'quantity',
  intstr: 'intstr',
  raw: 'raw',
  fields: 'json',
} as const satisfies Record<SpecialType, string>

const unions: Readonly<Record<string, 'schemaOrArray' | 'schemaOrBool' | 'schemaOrStringArray'>> = {
  JSONSchemaPropsOrArray: 'schemaOrArray',
  JSONSchemaPropsOrBool: 'schemaOrBool',
  JSONSchemaPropsOrStringArray: 'schemaOrStringArray',
}

function schemaUnion(row: TypeRow, pointer: boolean): ElementType {
  const known = unions[row.short]
  if (known === undefined) return { form: 'known', known: 'json', pointer }
  const message = (): Message => messageOf(rowOf({ table: row.table, short: 'JSONSchemaProps' }))
  return { form: 'known', known, pointer, message }
}

/** The message of a kind, looked up in its own table and then among the kinds that every group has. */
export function kindMessage(
  tables: { readonly own: TypeRow['table'] | undefined; readonly meta: TypeRow['table'] },
  kind: string,
): Message | undefined {
  const own = tables.own && typeRows(tables.own).get(kind)
  if (own?.isKind) return messageOf(own)
  const common = typeRows(tables.meta).get(kind)
  return common && commonKinds.has(kind) ? messageOf(common) : undefined
}

/** Kinds of meta/v1 that are registered in every group and version, and those of the core group. */
const commonKinds: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'List',
  'ListOptions',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
  'PatchOptions',
  'Status',
  'UpdateOptions',
  'WatchEvent',
])
