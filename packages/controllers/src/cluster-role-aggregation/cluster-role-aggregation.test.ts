import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gatherRules } from './cluster-role-aggregation-controller.ts'

type Role = Parameters<typeof gatherRules>[0]

const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] })
const roleOf = (name: string, labels: Record<string, string>, ...resources: string[]): Role =>
  ({ metadata: { name, labels }, rules: resources.map(rule) }) as unknown as Role

const aggregating = (...selectors: Record<string, string>[]): Role =>
  ({
    metadata: { name: 'all', labels: { a: 'true' } },
    aggregationRule: { clusterRoleSelectors: selectors.map(matchLabels => ({ matchLabels })) },
    rules: [rule('own')],
  }) as unknown as Role

describe('an aggregated cluster role', () => {
  it('has the rules of the roles that it selects, by name, without duplicates, and none of its own', () => {
    const role = aggregating({ a: 'true' }, { b: 'true' })
    const roles = [
      roleOf('y', { a: 'true' }, 'two', 'one'),
      roleOf('x', { a: 'true' }, 'one'),
      roleOf('z', { b: 'true' }, 'one', 'three'),
      roleOf('w', { c: 'true' }, 'four'),
      role,
    ]
    assert.deepEqual(gatherRules(role, roles), ['one', 'two', 'three'].map(rule))
  })

  it('is empty if it selects nothing', () => {
    assert.deepEqual(gatherRules(aggregating({ d: 'true' }), [roleOf('x', { a: 'true' }, 'one')]), [])
  })
})
