import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { pageFile, renderPage } from './conformance/page.ts'
import { mergeResults, readResults, resultsOf, type SpecReport } from './conformance/results.ts'

const spec = (name: string, state: string, more: Partial<SpecReport> = {}): SpecReport => ({
  ContainerHierarchyTexts: ['[sig-apps] Job'],
  LeafNodeType: 'It',
  LeafNodeText: name,
  State: state,
  StartTime: '2026-01-02T03:04:05Z',
  RunTime: 1_234_567_890,
  ...more,
})

describe('conformance results', () => {
  it('are what ran: a test that skipped itself did not', () => {
    const found = resultsOf([
      spec('runs', 'passed'),
      spec('breaks', 'panicked', { Failure: { Message: '\nno luck\nat all' } }),
      spec('skips itself', 'skipped'),
      spec('', 'passed', { LeafNodeType: 'ReportAfterSuite' }),
    ])
    const facts = { seconds: 1.2, date: '2026-01-02' }
    assert.deepEqual(found, [
      { name: '[sig-apps] Job runs', verdict: 'passed', ...facts },
      { name: '[sig-apps] Job breaks', verdict: 'failed', ...facts, failure: 'no luck' },
    ])
  })

  it('replace those of earlier runs, name every test, and forget those that upstream no longer has', () => {
    const old = {
      kubernetes: '1.0.0',
      tests: [
        { name: 'a', verdict: 'failed' },
        { name: 'z', verdict: 'passed' },
      ],
    } as const
    const { tests } = mergeResults(old, ['b', 'a'], [{ name: 'a', verdict: 'passed' }])
    assert.deepEqual(tests, [
      { name: 'a', verdict: 'passed' },
      { name: 'b', verdict: 'not run' },
    ])
  })

  it('are counted by class on a page that shows each failure', () => {
    const page = renderPage({
      kubernetes: '1.36.4',
      tests: [
        { name: '[sig-apps] Job runs', verdict: 'passed', seconds: 1, date: '2026-01-02' },
        {
          name: '[sig-apps] Job breaks',
          verdict: 'failed',
          seconds: 1,
          date: '2026-01-02',
          failure: 'no `luck`',
        },
        { name: '[sig-auth] waits', verdict: 'not run' },
      ],
    })
    for (const line of [
      '| sig-apps | 2 | 1 | 1 | 0 |',
      '| sig-auth | 1 | 0 | 0 | 1 |',
      '| **all** | 3 | 1 | 1 | 1 |',
      "- [sig-apps] Job breaks: `no 'luck'`",
      '- [sig-auth] waits',
      'Tests that ran, by date: 2026-01-02 2.',
    ])
      assert.ok(page.split('\n').includes(line), line)
  })

  it('are on the page in docs as the last run left them, all 446', () => {
    const results = readResults()
    assert.equal(results.tests.length, 446)
    assert.equal(readFileSync(pageFile, 'utf8'), renderPage(results))
  })
})
