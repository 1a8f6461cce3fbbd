import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatHash, hasDesired } from './hash.ts'

describe('the hash of a desired object', () => {
  it('does not depend on the order of members, or on members that are undefined', () => {
    assert.equal(
      formatHash({ a: 1, b: [{ c: 2, d: 3 }] }),
      formatHash({ b: [{ d: 3, c: 2, e: undefined }], a: 1 }),
    )
  })

  it('differs when a value, its type, its place or its name does', () => {
    const hashes = [
      { a: 1 },
      { a: '1' },
      { a: [1] },
      { b: 1 },
      { a: 2 },
      { a: [2, 1] },
      { a: [1, 2] },
      {},
    ].map(formatHash)
    assert.equal(new Set(hashes).size, hashes.length)
    for (const hash of hashes) assert.match(hash, /^[0-9a-f]{16}$/)
  })
})

describe('whether an object is as desired', () => {
  const live = {
    spec: {
      replicas: 1,
      containers: [
        { name: 'injected' },
        { name: 'db', image: 'db', resources: { requests: { cpu: '500m' }, limits: { memory: '1Gi' } } },
      ],
      args: ['a', 'b'],
    },
    data: { cpu: '500m' },
  }
  const cases: readonly (readonly [object, boolean])[] = [
    [{ spec: { replicas: 1 } }, true],
    [{ spec: { replicas: 2 } }, false],
    [{ spec: { containers: [{ name: 'db', image: 'db' }] } }, true],
    [{ spec: { containers: [{ name: 'web' }] } }, false],
    [{ spec: { containers: [{ name: 'db', resources: { requests: { cpu: '0.5' } } }] } }, true],
    [{ spec: { containers: [{ name: 'db', resources: { requests: { cpu: 0.5 } } }] } }, true],
    [{ spec: { containers: [{ name: 'db', resources: { requests: { cpu: '0.6' } } }] } }, false],
    [{ spec: { containers: [{ name: 'db', resources: { limits: { memory: 'x' } } }] } }, false],
    [{ data: { cpu: '0.5' } }, false],
    [{ spec: { args: ['a', 'b'] } }, true],
    [{ spec: { args: ['b'] } }, false],
    [{ spec: { volumes: [] }, status: {}, data: { other: undefined } }, true],
  ]
  for (const [desired, expected] of cases)
    it(`${expected ? 'it is' : 'it is not'}: ${JSON.stringify(desired)}`, () => {
      assert.equal(hasDesired(live, desired), expected)
    })
})
