import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countResults } from './controller-runtime.ts'

describe('the results of a compiled test', () => {
  it('are the specs of Ginkgo, and tests of Go without those that only hold others', () => {
    const text = [
      '=== RUN   TestSuite',
      'Running Suite: A Suite',
      '\u001b[38;5;9m[FAIL]\u001b[0m the client can fail',
      'Ran 5 of 5 Specs in 1.0 seconds',
      'FAIL! -- 4 Passed | 1 Failed | 0 Pending | 0 Skipped',
      '--- FAIL: TestSuite (1.0s)',
      '=== RUN   TestTable',
      '--- FAIL: TestTable (0.1s)',
      '    --- PASS: TestTable/one (0.0s)',
      '    --- FAIL: TestTable/two (0.0s)',
      '--- PASS: TestPlain (0.0s)',
      '',
    ].join('\n')
    assert.deepEqual(countResults(text), { passed: 6, failed: ['TestTable/two', 'the client can fail'] })
  })

  it('are a failure when the program ends before any test', () => {
    assert.deepEqual(countResults('panic: no server\n'), { passed: 0, failed: ['the program itself'] })
  })
})
