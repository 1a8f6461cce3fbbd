import { deepEqual } from '@coxswain/apimachinery/json'
import {
  type CustomResourceDefinition,
  type CustomResourceDefinitionVersion,
  defineKind,
  toCustomResourceDefinition,
} from '@coxswain/apimachinery/kinds'
import { comparePreferredVersions } from '@coxswain/apimachinery/meta'
import type { Schema } from '@coxswain/apimachinery/schema'
import { comparableDefinition } from '../definitions/comparable.ts'
import { ProjectError } from '../errors.ts'
import { printValue } from '../source/print-value.ts'
import { type BuilderSource, fieldKey, printSchema } from './schema-source.ts'

/** A kind as a source of `defineKind`. */
export interface KindSource {
  readonly code: string
  /** The version that the controller uses. */
  readonly version: string
}

/**
 * The source of a CRD: `export const Frigate = defineKind({ ... })`. The CRD that it generates is compared with the given one.
 * @throws ProjectError `BadDefinition` when `defineKind` cannot say what the CRD says
 */
export function printKind(crd: CustomResourceDefinition): KindSource {
  const { group, names, scope, versions } = crd.spec
  const printed = versions.map(version => printVersion(version, versions.length))
  const head = {
    group,
    kind: names.kind,
    ...(scope === 'Cluster' && { scope }),
    plural: names.plural,
    ...(names.singular !== undefined &&
      names.singular !== names.kind.toLowerCase() && { singular: names.singular }),
    ...(names.listKind !== undefined &&
      names.listKind !== `${names.kind}List` && { listKind: names.listKind }),
    ...(names.shortNames?.length && { shortNames: names.shortNames }),
    ...(names.categories?.length && { categories: names.categories }),
  }
  const made = defineKind({
    ...(head as object as { group: string; kind: string }),
    versions: Object.fromEntries(printed.map(({ name, value }) => [name, value])),
  })
  const back = toCustomResourceDefinition(made)
  if (!deepEqual(comparable(back), comparable(crd)))
    throw new ProjectError(
      'BadDefinition',
      `${crd.metadata.name}: defineKind cannot say everything that this definition says; use coxswain types for it`,
    )
  const version = [...versions]
    .filter(({ served }) => served)
    .map(({ name }) => name)
    .sort(comparePreferredVersions)[0]
  const chosen = versions.find(({ storage }) => storage)?.name ?? version ?? versions[0]!.name
  const lines = Object.entries(head).map(([key, value]) => `  ${key}: ${printValue(value, '  ')},\n`)
  const code = `import { defineKind, type KindOf, s } from 'coxswain'

export const ${names.kind} = defineKind({
${lines.join('')}  versions: {
${printed.map(({ code }) => code).join('')}    // +coxswain:scaffold:versions
  },
})
export type ${names.kind} = KindOf<typeof ${names.kind}.${chosen}>
`
  return { code, version: chosen }
}

const everyObject: Readonly<Record<string, Schema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object' },
}

/**
 * What the import keeps: not the metadata of the CRD, and the conversion is that of the webhooks. Servers require apiVersion, kind and
 * metadata of every object by themselves.
 */
function comparable(crd: CustomResourceDefinition): unknown {
  const { conversion: _, ...spec } = crd.spec
  const versions = spec.versions.map(version => {
    const schema = version.schema?.openAPIV3Schema
    const required = schema?.required?.filter(name => !(name in everyObject)) ?? []
    const properties = { ...everyObject, ...schema?.properties }
    return { ...version, schema: { openAPIV3Schema: { ...schema, properties, required } } }
  })
  return comparableDefinition({ ...crd, metadata: { name: crd.metadata.name }, spec: { ...spec, versions } })
}

interface VersionSource {
  readonly name: string
  readonly code: string
  readonly value: object
}

function printVersion(version: CustomResourceDefinitionVersion, count: number): VersionSource {
  const indent = '      '
  const schema: Schema = version.schema?.openAPIV3Schema ?? {}
  const { spec, status, apiVersion: _a, kind: _k, metadata: _m, ...rest } = schema.properties ?? {}
  const part = (property: Schema, name: string): BuilderSource =>
    printSchema(property, schema.required?.includes(name) ? 'required' : 'optional', indent)
  const members: [string, string, unknown][] = []
  const add = (name: string, value: unknown): void => {
    members.push([name, printValue(value, indent), value])
  }
  if (count > 1 && version.storage) add('storage', true)
  if (!version.served) add('served', false)
  if (version.deprecated === true) add('deprecated', version.deprecationWarning ?? true)
  if (schema.description !== undefined) add('doc', schema.description)
  if (spec !== undefined) {
    const { code, builder } = part(spec, 'spec')
    members.push(['spec', code, builder])
  }
  if (status !== undefined) {
    const { code, builder } = printSchema(status, 'required', indent)
    members.push(['status', code, builder])
  }
  const fields = Object.entries(rest).map(([name, property]) => [name, part(property, name)] as const)
  if (fields.length > 0)
    members.push([
      'fields',
      `{\n${fields.map(([name, { code }]) => `${indent}  ${fieldKey(name)}: ${code},\n`).join('')}${indent}}`,
      Object.fromEntries(fields.map(([name, { builder }]) => [name, builder])),
    ])
  if (schema['x-kubernetes-validations'] !== undefined) add('cel', schema['x-kubernetes-validations'])
  if (version.additionalPrinterColumns?.length) add('columns', columnsOf(version))
  const hasStatus = version.subresources?.status !== undefined
  if (hasStatus !== (status !== undefined)) add('statusSubresource', hasStatus)
  if (version.subresources?.scale !== undefined) add('scale', version.subresources.scale)
  if (version.selectableFields?.length)
    add(
      'selectableFields',
      version.selectableFields.map(({ jsonPath }) => jsonPath),
    )
  return {
    name: version.name,
    code: `    ${version.name}: {\n${members.map(([name, code]) => `${indent}${name}: ${code},\n`).join('')}    },\n`,
    value: Object.fromEntries(members.map(([name, , value]) => [name, value])),
  }
}

function columnsOf({
  additionalPrinterColumns = [],
}: CustomResourceDefinitionVersion): Record<string, unknown> {
  return Object.fromEntries(
    additionalPrinterColumns.map(({ name, ...column }) => {
      const isAge = column.type === 'date' && column.jsonPath === '.metadata.creationTimestamp'
      return [name, isAge && Object.keys(column).length === 2 ? column.jsonPath : column]
    }),
  )
}
