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
        additionalPrinterColumns: additionalPrinterColumns?.map(
          ({ description: _, priority, ...column }) => ({
            ...column,
            priority: priority === 0 ? undefined : priority,
          }),
        ),
        schema: plainSchema(schema?.openAPIV3Schema),
      })),
    },
  })
}

const prose = new Set(['description', 'title', 'example', 'externalDocs'])

/** Prose is recognised by its place: a property may be called `description`. */
function plainSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const result: Record<string, unknown> = {}
  for (const keyword of Object.keys(schema).sort()) {
    const value = schema[keyword]
    if (prose.has(keyword)) continue
    if (keyword === 'properties' && isObject(value)) {
      const properties: Record<string, unknown> = {}
      for (const name of Object.keys(value).sort()) setMember(properties, name, plainSchema(value[name]))
      result[keyword] = properties
    } else if (keyword === 'required' && Array.isArray(value)) result[keyword] = [...value].sort()
    else if (keyword === 'items' || keyword === 'additionalProperties' || keyword === 'not')
      result[keyword] = plainSchema(value)
    else if (['allOf', 'anyOf', 'oneOf'].includes(keyword) && Array.isArray(value))
      result[keyword] = value.map(plainSchema)
    else if (value !== false || keyword === 'default') result[keyword] = value
  }
  return result
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
