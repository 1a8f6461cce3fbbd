import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRealRandom, createSeededRandom, type Random } from './random.ts'

const sources: [string, Random][] = [
  ['real', createRealRandom()],
  ['seeded', createSeededRandom(1)],
]

for (const [name, random] of sources) {
  describe(`${name} randomness`, () => {
    it('gives numbers spread evenly over [0, 1)', () => {
      const numbers = Array.from({ length: 10_000 }, () => random.next())
      assert.ok(numbers.every(number => number >= 0 && number < 1))
      const mean = numbers.reduce((sum, number) => sum + number) / numbers.length
      assert.ok(Math.abs(mean - 0.5) < 0.03, `mean ${mean}`)
    })

    it('gives every whole number below a bound and none other', () => {
      const counts = new Map<number, number>()
      for (let i = 0; i < 7_000; i++) {
        const number = random.below(7)
        counts.set(number, (counts.get(number) ?? 0) + 1)
      }
      assert.deepEqual([...counts.keys()].sort(), [0, 1, 2, 3, 4, 5, 6])
      assert.ok([...counts.values()].every(count => count > 800 && count < 1_200))
      assert.equal(random.below(1), 0)
    })

    it('gives any number of bytes', () => {
      for (const length of [0, 1, 3, 4, 5, 16, 70_000]) assert.equal(random.bytes(length).length, length)
      assert.equal(new Set(random.bytes(10_000)).size, 256)
      assert.ok(
        random
          .bytes(70_000)
          .subarray(65_536)
          .some(byte => byte !== 0),
      )
    })

    it('gives version 4 UUIDs that do not repeat', () => {
      const ids = Array.from({ length: 1_000 }, () => random.uuid())
      for (const id of ids)
        assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.equal(new Set(ids).size, ids.length)
    })

    it('gives name suffixes without vowels or look-alikes', () => {
      const text = random.suffix(5_000)
      assert.equal(text.length, 5_000)
      assert.match(text, /^[bcdfghjklmnpqrstvwxz2456789]+$/)
      assert.equal(new Set(text).size, 27)
    })
  })
}

describe('seeded randomness', () => {
  it('repeats for a seed, and differs for seeds that differ in any bit', () => {
    const sample = (seed: number) => {
      const random = createSeededRandom(seed)
      return Array.from({ length: 8 }, () => random.below(2 ** 32)).join()
    }
    const seeds = [0, 1, 2, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 52, -1]
    for (const seed of seeds) assert.equal(sample(seed), sample(seed))
    assert.equal(new Set(seeds.map(sample)).size, seeds.length)
  })

  it('gives the numbers it always gave: a recorded seed replays on a later version', () => {
    const random = createSeededRandom(42)
    assert.deepEqual(
      Array.from({ length: 4 }, () => random.below(2 ** 32)),
      [2862995690, 1168273338, 2203726219, 17391507],
    )
    assert.equal(random.uuid(), '883e90f8-44ba-4901-a18c-128fdf141aa3')
  })
})
