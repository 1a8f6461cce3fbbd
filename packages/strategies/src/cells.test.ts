import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { builtinResources } from '@coxswain/api'
import { strategyFor } from './strategy-for.ts'

describe('table cells of built-in kinds', () => {
  for (const { group, resource, kind, versions } of builtinResources()) {
    const strategy = strategyFor(group, resource)
    if (!strategy.cells) continue
    for (const version of versions) {
      it(`name the columns of ${kind} in ${group === '' ? 'core' : group}/${version.name}`, () => {
        const apiVersion = group === '' ? version.name : `${group}/${version.name}`
        const object = { apiVersion, kind, metadata: { name: 'one' }, spec: {} }
        const columns = version.columns.map(column => column.name)
        const names = Object.keys(strategy.cells?.(object, 0) ?? {})
        assert.deepEqual(names, [...columns, ...(strategy.extraCells ?? [])])
      })
    }
  }

  it('may follow those of the columns only where upstream sends more cells than columns', () => {
    const kinds = builtinResources()
      .filter(({ group, resource }) => strategyFor(group, resource).extraCells)
      .map(({ kind }) => kind)
    assert.deepEqual(kinds, ['IPAddress'])
  })
})
