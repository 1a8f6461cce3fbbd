import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Endpoint } from '../registry/registry.ts'
import { createTablePrinter } from './table.ts'

describe('createTablePrinter', () => {
  it('prints the columns before the first one whose path it cannot parse', () => {
    const column = (name: string, jsonPath: string) => ({ name, type: 'string', priority: 0, jsonPath })
    const columns = [
      column('Size', '.spec.size'),
      column('Odd', '.spec[?(@)]'),
      column('Color', '.spec.color'),
    ]
    const endpoint = {
      resource: { printsDeclaredColumns: true, strategy: {} },
      version: { columns },
    } as unknown as Endpoint
    const printer = createTablePrinter(endpoint)
    assert.deepEqual(
      printer.columns.map(({ name }) => name),
      ['Name', 'Size'],
    )
    const object = { metadata: { name: 'a' }, spec: { size: 'big', color: 'red' } }
    assert.deepEqual(printer.cells(object, 0), ['a', 'big'])
  })
})
