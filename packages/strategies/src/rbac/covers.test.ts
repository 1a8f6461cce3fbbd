import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { describeUncovered, findUncovered } from './covers.ts'
import type { PolicyRule } from './rule.ts'

const none: readonly string[] = []

/** Every combination of a rule as a rule of its own: the definition, too slow for large rules. */
function expand(rule: PolicyRule): PolicyRule[] {
  const { verbs, apiGroups = none, resources = none, resourceNames = none, nonResourceURLs = none } = rule
  const names = resourceNames.length > 0 ? resourceNames.map(name => ({ resourceNames: [name] })) : [{}]
  return [
    ...apiGroups.flatMap(group =>
      resources.flatMap(resource =>
        verbs.flatMap(verb =>
          names.map(name => ({ verbs: [verb], apiGroups: [group], resources: [resource], ...name })),
        ),
      ),
    ),
    ...nonResourceURLs.flatMap(path => verbs.map(verb => ({ verbs: [verb], nonResourceURLs: [path] }))),
  ]
}

function covers(owner: PolicyRule, piece: PolicyRule): boolean | undefined {
  const { verbs, apiGroups = none, resources = none, resourceNames = none, nonResourceURLs = none } = owner
  const has = (items: readonly string[], wanted: readonly string[] = none) =>
    items.includes('*') || wanted.every(item => items.includes(item))
  const hasResource = (resource: string) =>
    resources.includes('*') ||
    resources.includes(resource) ||
    (resource.includes('/') && resources.includes(`*/${resource.split('/')[1]}`))
  const hasPath = (path: string) =>
    nonResourceURLs.some(own => own === path || (own.endsWith('*') && path.startsWith(own.slice(0, -1))))
  return (
    has(verbs, piece.verbs) &&
    has(apiGroups, piece.apiGroups) &&
    (piece.resources ?? none).every(hasResource) &&
    (resourceNames.length === 0 || piece.resourceNames?.every(name => resourceNames.includes(name))) &&
    (piece.nonResourceURLs ?? none).every(hasPath)
  )
}

const some = (...items: string[]) => fc.array(fc.constantFrom(...items), { maxLength: 4 })
const ruleArbitrary: fc.Arbitrary<PolicyRule> = fc.record(
  {
    verbs: some('get', 'list', 'create', '*'),
    apiGroups: some('', 'apps', 'batch', '*'),
    resources: some('pods', 'pods/log', 'jobs', 'jobs/log', '*', '*/log'),
    resourceNames: some('a', 'b'),
    nonResourceURLs: some('/a', '/a/b', '/a/*', '/b', '*'),
  },
  { requiredKeys: ['verbs'] },
)

const many = (prefix: string, count = 300) => Array.from({ length: count }, (_, index) => prefix + index)

describe('rules that are not covered', () => {
  it('are those of which one combination is in no owned rule', () => {
    const rules = fc.array(ruleArbitrary, { maxLength: 5 })
    fc.assert(
      fc.property(rules, rules, (owned, asked) => {
        const expected = asked.flatMap(expand).filter(piece => !owned.some(owner => covers(owner, piece)))
        const { pieces, truncated } = findUncovered(owned, asked)
        assert.equal(truncated, false)
        assert.deepEqual(pieces, expected)
      }),
      { numRuns: 2_000 },
    )
  })

  it('are found in a rule of a billion combinations, and listed up to a limit', () => {
    const rule = {
      verbs: many('v'),
      apiGroups: many('g'),
      resources: many('r'),
      resourceNames: many('n'),
    }
    assert.deepEqual(findUncovered([{ ...rule, resourceNames: [] }], [rule]), {
      pieces: [],
      truncated: false,
    })
    const halves = [
      { ...rule, verbs: many('v', 150) },
      { ...rule, verbs: many('v').slice(150) },
    ]
    assert.deepEqual(findUncovered(halves, [rule]), { pieces: [], truncated: false })
    const uncovered = findUncovered([{ verbs: ['*'], apiGroups: ['g0'], resources: ['*'] }], [rule])
    assert.equal(uncovered.truncated, true)
    const text = describeUncovered(uncovered)
    assert.ok(text.length < 100_000)
    assert.ok(text.endsWith('\n... and more'))
    assert.ok(!text.includes('"g0"'))
  })

  it('are taken as not covered when the owned rules are too entangled to say', () => {
    const without = (prefix: string, left: number) => many(prefix).filter((_, index) => index !== left)
    const owned = Array.from({ length: 300 }, (_, index) => ({
      verbs: without('v', index),
      apiGroups: without('g', index),
      resources: without('r', index),
    }))
    const rule = { verbs: many('v'), apiGroups: many('g'), resources: many('r') }
    const uncovered = findUncovered(owned, [rule])
    assert.equal(uncovered.truncated, true)
    assert.equal(describeUncovered(uncovered), '... and more')
  })

  it('are described in a text that has an end, however long their names', () => {
    const resources = many('r'.repeat(1_000))
    const text = describeUncovered(findUncovered([], [{ verbs: ['get'], apiGroups: [''], resources }]))
    assert.ok(text.length < 70_000)
    assert.ok(text.endsWith('\n... and more'))
  })
})
