import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type BenchCase, formatTable, median, runBench, toJson } from './harness.ts'

/** Gives these numbers, one a round; the first is the warm-up. */
const numbers = (...values: number[]) => {
  const left = values.values()
  return () => left.next().value ?? assert.fail('one round too many')
}

const example = (more: Partial<BenchCase> = {}): BenchCase => ({
  name: 'put',
  unit: 'ms',
  measure: numbers(99, 10, 30, 20, 50, 40),
  reference: { name: 'etcd', measure: numbers(99, 15, 15, 16, 14, 15) },
  ...more,
})

describe('a benchmark', () => {
  it('reports medians, their ratio and their spread, without the warm-up', async () => {
    const [row] = await runBench({ title: 't', cases: [example({ goal: { of: 'ratio', atMost: 2 } })] })
    assert.deepEqual(row, {
      name: 'put',
      value: 30,
      unit: 'ms',
      reference: 15,
      referenceName: 'etcd',
      ratio: 2,
      goal: '<= 2x',
      holds: true,
      spread: [10, 50],
      referenceSpread: [14, 16],
    })
  })

  it('says when a goal is missed, for the ratio and for the value', async () => {
    const cases = [
      example({ name: 'ratio', goal: { of: 'ratio', atMost: 1.9 } }),
      example({ name: 'value', measure: numbers(0, 1, 2, 3, 4, 5), goal: { of: 'value', atLeast: 4 } }),
    ]
    const rows = await runBench({ title: 't', cases })
    assert.deepEqual(
      rows.map(({ goal, holds }) => [goal, holds]),
      [
        ['<= 1.9x', false],
        ['>= 4 ms', false],
      ],
    )
    assert.match(formatTable('t', rows), /\| ratio \|.*\| <= 1\.9x \| \*\*missed\*\* \|/)
  })

  it('lets the two sides take turns, and who is first too', async () => {
    const order: string[] = []
    const side = (name: string) => () => order.push(name)
    const cases = [
      { name: 'x', unit: 'ms', measure: side('o'), reference: { name: 'r', measure: side('r') } },
    ]
    await runBench({ title: 't', cases, rounds: 5 })
    assert.equal(order.join(''), 'ro' + 'or' + 'ro' + 'or' + 'ro' + 'or')
  })

  it('sets up once, and stops what was started even when a round fails', async () => {
    const seen: string[] = []
    const measure = () => {
      throw new Error('broken round')
    }
    const run = runBench({
      title: 't',
      cases: async stack => {
        seen.push('set up')
        stack.defer(() => void seen.push('stopped'))
        return [{ name: 'x', unit: 'ms', measure }]
      },
    })
    await assert.rejects(run, /broken round/)
    assert.deepEqual(seen, ['set up', 'stopped'])
  })

  it('refuses fewer than five rounds, a number that is none, and a ratio without a reference', async () => {
    await assert.rejects(runBench({ title: 't', cases: [], rounds: 4 }), /at least 5 rounds/)
    await assert.rejects(
      runBench({ title: 't', cases: [example({ measure: () => Number.NaN })] }),
      /measured NaN/,
    )
    const lonely: BenchCase = { name: 'x', unit: 'ms', measure: () => 1, goal: { of: 'ratio', atMost: 1 } }
    await assert.rejects(runBench({ title: 't', cases: [lonely] }), /needs a reference/)
  })

  it('writes exactly the agreed fields as JSON, with null for what is not there', async () => {
    const rows = await runBench({ title: 't', cases: [{ name: 'alone', unit: 'MB', measure: () => 7 }] })
    assert.deepEqual(JSON.parse(toJson(rows)), [
      {
        name: 'alone',
        value: 7,
        unit: 'MB',
        reference: null,
        referenceName: null,
        ratio: null,
        goal: null,
        holds: null,
      },
    ])
    assert.match(formatTable('t', rows), /\| alone \| 7 MB \(7 to 7\) \| - \| - \| - \| - \|/)
  })

  it('takes the middle of an even number of rounds between the two', () => {
    assert.equal(median([4, 1, 3, 2]), 2.5)
    assert.equal(median([3, 1, 2]), 2)
  })
})
