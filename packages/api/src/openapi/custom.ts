/**
 * The definitions of custom resources: their structural schemas with apiVersion, kind and metadata added. OpenAPI v3 says
 * all of a schema. Version 2 says less: old clients take what it lists for all there is, so whatever may hold more is left
 * open, and keywords it does not have are dropped.
 */
import type { ResourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import type { Schema } from '@coxswain/apimachinery/schema'
import type { Definition } from '../table/definition.ts'
import type { CustomDefinition } from './definitions.ts'
import { customTypeName } from './names.ts'

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
const aboutApiVersion =
  'APIVersion defines the group and version of the schema that this object is written in, such as apps/v1. Servers convert objects between the versions they serve and reject versions they do not know.'
const aboutKindField =
  'Kind names the type of this object in CamelCase. It follows from the endpoint a client sends the object to, and it never changes.'
const aboutMetadata =
  "Standard object's metadata: name and namespace, labels, annotations, owners and finalizers, and what the server keeps of its history."
const aboutListMetadata =
  'Metadata of the list: the resourceVersion it was read at and, where there are more items, the token that continues it.'
const aboutItems = 'The objects of this list.'

export interface CustomDialect {
  readonly version: 2 | 3
  readonly prefix: string
}

interface Target {
  readonly info: ResourceInfo
  readonly version: VersionInfo
  readonly isList: boolean
}

/** Finds the definitions of the custom resources among `resources` by the names of their types. */
export function customDefinitions(
  resources: readonly ResourceInfo[],
  dialect: CustomDialect,
): (name: string) => CustomDefinition | undefined {
  let targets: ReadonlyMap<string, Target> | undefined
  return name => {
    targets ??= findTargets(resources)
    const target = targets.get(name)
    return target && define(target, dialect)
  }
}

function findTargets(resources: readonly ResourceInfo[]): Map<string, Target> {
  const targets = new Map<string, Target>()
  for (const info of resources) {
    for (const version of info.versions) {
      const name = (kind: string): string => customTypeName(info.group, version.name, kind)
      targets.set(name(info.kind), { info, version, isList: false })
      targets.set(name(info.listKind), { info, version, isList: true })
    }
  }
  return targets
}

function define({ info, version, isList }: Target, dialect: CustomDialect): CustomDefinition {
  const kind = isList ? info.listKind : info.kind
  const item = customTypeName(info.group, version.name, info.kind)
  const extensions: Definition = {
    'x-kubernetes-group-version-kind': [{ group: info.group, kind, version: version.name }],
  }
  if (version.selectableFields.length > 0) {
    extensions['x-kubernetes-selectable-fields'] = version.selectableFields.map(fieldPath => ({ fieldPath }))
  }
  const references = isList ? [item, `${meta}ListMeta`] : [`${meta}ObjectMeta`]
  const definition = (): Definition => ({
    ...(isList ? listDefinition(item, dialect) : objectDefinition(version.schema(), dialect)),
    ...extensions,
  })
  return { definition, references }
}

function listDefinition(item: string, dialect: CustomDialect): Definition {
  return {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { description: aboutApiVersion, type: 'string' },
      items: { description: aboutItems, type: 'array', items: { $ref: dialect.prefix + item } },
      kind: { description: aboutKindField, type: 'string' },
      metadata: { description: aboutListMetadata, ...reference(`${meta}ListMeta`, dialect) },
    },
  }
}

function reference(name: string, dialect: CustomDialect): Definition {
  const $ref = dialect.prefix + name
  return dialect.version === 2 ? { $ref } : { allOf: [{ $ref }] }
}

function objectDefinition(schema: Schema, dialect: CustomDialect): Definition {
  if (dialect.version === 2 && schema['x-kubernetes-preserve-unknown-fields']) return { type: 'object' }
  const definition = convert(schema, dialect)
  const properties = { ...(definition.properties as Definition | undefined), ...objectProperties(dialect) }
  return { ...definition, properties: sorted(properties) }
}

function objectProperties(dialect: CustomDialect): Definition {
  return {
    apiVersion: { description: aboutApiVersion, type: 'string' },
    kind: { description: aboutKindField, type: 'string' },
    metadata: { description: aboutMetadata, ...reference(`${meta}ObjectMeta`, dialect) },
  }
}

function sorted(properties: Definition): Definition {
  return Object.fromEntries(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Keywords that both versions have and that are taken over as they are. */
const plainKeywords = [
  'type',
  'format',
  'title',
  'description',
  'default',
  'example',
  'enum',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
  'externalDocs',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
] as const satisfies readonly (keyof Schema)[]

function convert(schema: Schema, dialect: CustomDialect): Definition {
  const node: Definition = {}
  for (const keyword of plainKeywords) {
    const value = schema[keyword]
    if (value === undefined || value === false || (keyword === 'default' && value === null)) {
      if (!(keyword === 'default' && value === false)) continue
    }
    node[keyword] = value
  }
  if (dialect.version === 3) addJunctors(node, schema)
  const isOpen = dialect.version === 2 && (schema['x-kubernetes-preserve-unknown-fields'] || schema.nullable)
  if (!isOpen) addChildren(node, schema, dialect)
  const { additionalProperties } = schema
  if (typeof additionalProperties === 'object') {
    node.additionalProperties = convert(additionalProperties, dialect)
  } else if (additionalProperties !== undefined) node.additionalProperties = additionalProperties
  if (dialect.version === 2) loosen(node, schema)
  return withEmbedded(node, schema, dialect)
}

function addJunctors(node: Definition, schema: Schema): void {
  if (schema.nullable) node.nullable = true
  for (const keyword of ['allOf', 'anyOf', 'oneOf', 'not'] as const) {
    if (schema[keyword] !== undefined) node[keyword] = schema[keyword]
  }
  if (!schema['x-kubernetes-int-or-string'] || saysIntOrString(schema)) return
  if (schema.anyOf === undefined) node.anyOf = intOrString
  else node.allOf = [{ anyOf: intOrString }, ...(schema.allOf ?? [])]
}

const intOrString: readonly Definition[] = [{ type: 'integer' }, { type: 'string' }]

function saysIntOrString(schema: Schema): boolean {
  const isPair = (choices: readonly Schema[] | undefined): boolean =>
    choices?.length === 2 && choices[0]?.type === 'integer' && choices[1]?.type === 'string'
  return isPair(schema.anyOf) || isPair(schema.allOf?.[0]?.anyOf)
}

function addChildren(node: Definition, schema: Schema, dialect: CustomDialect): void {
  if (schema.items) node.items = convert(schema.items, dialect)
  if (!schema.properties) return
  const properties: Definition = {}
  for (const [name, property] of Object.entries(schema.properties)) {
    properties[name] = convert(property, dialect)
  }
  node.properties = properties
}

/** Version 2 has no null, and a value without a type is one of any type. */
function loosen(node: Definition, schema: Schema): void {
  const isOpenObject = schema['x-kubernetes-preserve-unknown-fields'] && schema.type === 'object'
  const hasNoItems = schema.type === 'array' && node.items === undefined
  if (schema.nullable || isOpenObject || hasNoItems) delete node.type
  const { additionalProperties: values, properties = {} } = schema
  if (typeof values === 'object' && values.nullable) delete node.required
  if (!node.required || schema.nullable || node.properties === undefined) return
  const required = (schema.required ?? []).filter(name => !properties[name]?.nullable)
  if (required.length > 0) node.required = required
  else delete node.required
}

function withEmbedded(node: Definition, schema: Schema, dialect: CustomDialect): Definition {
  if (!schema['x-kubernetes-embedded-resource']) return node
  if (dialect.version === 2 && schema['x-kubernetes-preserve-unknown-fields']) return node
  const required = [...((node.required as string[] | undefined) ?? [])]
  for (const name of ['kind', 'apiVersion']) if (!required.includes(name)) required.push(name)
  const properties = { ...(node.properties as Definition | undefined), ...objectProperties(dialect) }
  return { ...node, required, properties }
}
