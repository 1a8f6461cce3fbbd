import assert from 'node:assert/strict'
import { definitionOf } from '../../packages/api/src/table/definition.ts'
import { type Table, typeRows } from '../../packages/api/src/table/table.ts'
import type { Facts } from './facts.ts'

/** Fails unless the definition read back from each table's text is what upstream's generator wrote. */
export function verifyTables(facts: Facts, tables: readonly Table[]): void {
  for (const table of tables) {
    for (const row of typeRows(table).values()) {
      const expected = facts.definitions[row.name]
      if (expected === undefined) continue // upstream leaves a few groups, such as admission, out of OpenAPI
      const actual = definitionOf(row, { version: 3, reference: name => `#/definitions/${name}` })
      assert.deepEqual(wrapped(actual), wrapReferences(expected), row.name)
    }
  }
}

function wrapped(definition: unknown): unknown {
  return JSON.parse(JSON.stringify(definition))
}

/** Upstream wraps a reference with a text or a default, as OpenAPI 3.0 allows nothing beside `$ref`. */
function wrapReferences(definition: Record<string, unknown>): unknown {
  const properties = (definition.properties ?? {}) as Record<string, Record<string, unknown>>
  const entries = Object.entries(properties).map(([name, node]) => [name, wrapNode(node, true)])
  return entries.length > 0 ? { ...definition, properties: Object.fromEntries(entries) } : definition
}

function wrapNode(node: Record<string, unknown>, isProperty: boolean): unknown {
  const { bare, $ref, ...rest } = node
  if (typeof $ref === 'string') {
    const isPlain = Object.keys(rest).length === 0 && (!isProperty || bare === true)
    return isPlain ? { $ref } : { ...rest, allOf: [{ $ref }] }
  }
  for (const key of ['items', 'additionalProperties']) {
    const child = rest[key]
    if (typeof child === 'object') rest[key] = wrapNode(child as Record<string, unknown>, false)
  }
  return rest
}
