import { isObject, setMember } from '@coxswain/apimachinery/json'
import type { CustomResourceDefinition } from '@coxswain/apimachinery/kinds'

/**
 * A CRD without status and prose, in one order: two that are deeply equal say the same to a server. Descriptions, titles, examples
 * and external docs are prose.
 */
export function comparableDefinition(crd: CustomResourceDefinition): unknown {
  const { annotations, labels, name } = crd.metadata
  const { versions, names, preserveUnknownFields, conversion, ...spec } = crd.spec
  return withoutEmpty({
    metadata: { name, annotations, labels },
    spec: {
      ...spec,
      names: { singular: names.kind.toLowerCase(), listKind: `${names.kind}List`, ...names },
      // Both are the server's defaults.
      conversion: conversion?.strategy === 'None' ? undefined : conversion,
      preserveUnknownFields: preserveUnknownFields === true ? true : undefined,
      versions: versions.map(({ schema, additionalPrinterColumns, ...version }) => ({
        ...version,
        deprecated: version.deprecated === true ? true : undefined,
        subresources: Object.keys(version.subresources ?? {}).length > 0 ? version.subresources : undefined,
        additionalPrinterColumns: additionalPrinterColumns?.map(
          ({ description: _, priority, ...column }) => ({
            ...column,
            priority: priority === 0 ? undefined : priority,
          }),
        ),
        schema: comparableSchema(schema?.openAPIV3Schema),
      })),
    },
  })
}

const prose = new Set(['description', 'title', 'example', 'externalDocs'])

/**
 * A schema without prose, and without what a server adds by itself: lists are atomic and maps granular by default, and a field with a
 * default is never missing. Prose is recognised by its place: a property may be called `description`.
 */
export function comparableSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const result: Record<string, unknown> = {}
  for (const keyword of Object.keys(schema).sort()) {
    const value = schema[keyword]
    if (prose.has(keyword)) continue
    if (keyword === 'properties' && isObject(value)) {
      const properties: Record<string, unknown> = {}
      for (const name of Object.keys(value).sort()) setMember(properties, name, comparableSchema(value[name]))
      result[keyword] = properties
    } else if (keyword === 'required' && Array.isArray(value)) {
      const needed = value.filter(name => !hasDefault(schema.properties, String(name))).sort()
      if (needed.length > 0) result[keyword] = needed
    } else if (keyword === 'x-kubernetes-list-type' && value === 'atomic') continue
    else if (keyword === 'x-kubernetes-map-type' && value === 'granular') continue
    else if (keyword === 'items' || keyword === 'additionalProperties' || keyword === 'not')
      result[keyword] = comparableSchema(value)
    else if (['allOf', 'anyOf', 'oneOf'].includes(keyword) && Array.isArray(value))
      result[keyword] = value.map(comparableSchema)
    else if (value !== false || keyword === 'default') result[keyword] = value
  }
  return result
}

function hasDefault(properties: unknown, name: string): boolean {
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(property) && property.default !== undefined
}

/** Lists and objects that are empty say the same as absent ones, outside schemas. */
function withoutEmpty(value: unknown): unknown {
  if (!isObject(value)) return Array.isArray(value) ? value.map(withoutEmpty) : value
  const entries = Object.entries(value).flatMap(([key, member]) => {
    if (member === undefined || (Array.isArray(member) && member.length === 0)) return []
    return [[key, key === 'schema' ? member : withoutEmpty(member)] as const]
  })
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
}
