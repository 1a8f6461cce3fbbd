import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Tally } from './tally.ts'

const collect = () => {
  let output = ''
  const tally = new Tally(text => {
    output += text
  })
  return { tally, output: () => output }
}

describe('a tally', () => {
  it('ends in a plain line, and its exit code follows', async () => {
    const { tally, output } = collect()
    await tally.stage('types', async () => tally.pass())
    await tally.stage('tests', async () => tally.pass(41))
    assert.equal(tally.finish(), 0)
    assert.equal(output().trimEnd().split('\n').at(-1), '42 passed, 0 failed')
  })

  it('counts what a stage throws as one failure, goes on, and names it at the end', async () => {
    const { tally, output } = collect()
    await tally.stage('types', () => Promise.reject(new Error('a.ts(1,1): wrong')))
    await tally.stage('tests', async () => {
      tally.pass()
      tally.fail('a test', 'expected 1')
    })
    assert.equal(tally.finish(), 1)
    assert.match(output(), /FAIL types\n {5}a\.ts\(1,1\): wrong/)
    assert.match(output(), /FAIL tests: 1 passed, 1 failed/)
    assert.match(output(), /failed:\n {2}types\n {2}a test\n\n1 passed, 2 failed\n$/)
  })
})
