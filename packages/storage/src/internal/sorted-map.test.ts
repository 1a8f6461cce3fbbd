import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { prefixEnd, SortedMap } from './sorted-map.ts'

describe('SortedMap', () => {
  it('agrees with a plain map and a sort, for random operations', () => {
    for (let seed = 1; seed <= 5; seed++) {
      const random = createSeededRandom(seed)
      const map = new SortedMap<{ key: string; n: number }>()
      const plain = new Map<string, number>()
      const name = () => `k${random.below(3000)}`
      for (let i = 0; i < 6000; i++) {
        const key = name()
        if (random.below(3) === 0) assert.equal(map.delete(key), plain.delete(key))
        else {
          map.set({ key, n: i })
          plain.set(key, i)
        }
      }
      assert.equal(map.size, plain.size)
      const sorted = [...plain.keys()].sort()
      for (let i = 0; i < 200; i++) {
        const [a, b] = [name(), name()].sort() as [string, string]
        assert.equal(map.get(a)?.n, plain.get(a))
        assert.equal(map.count(a, b), sorted.filter(key => key >= a && key < b).length)
        assert.equal(map.count(a), sorted.filter(key => key >= a).length)
        const seen: string[] = []
        map.scan(a, entry => seen.push(entry.key) < 10)
        assert.deepEqual(seen, sorted.filter(key => key >= a).slice(0, 10))
      }
    }
  })

  it('is empty when everything was removed', () => {
    const map = new SortedMap<{ key: string }>()
    for (let i = 0; i < 2000; i++) map.set({ key: `k${i}` })
    for (let i = 0; i < 2000; i++) assert.equal(map.delete(`k${i}`), true)
    assert.deepEqual([map.size, map.count('')], [0, 0])
    map.scan('', () => assert.fail('nothing to see'))
    map.set({ key: 'again' })
    assert.equal(map.size, 1)
  })
})

describe('prefixEnd', () => {
  it('is the first string after all with the prefix', () => {
    assert.equal(prefixEnd('/a/'), '/a0')
    assert.equal(prefixEnd(''), undefined)
    assert.ok('/a/\u007f\u007f' < prefixEnd('/a/')!)
  })
})
