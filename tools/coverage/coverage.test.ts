import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runFile } from '../test/run-file.ts'
import type { CoverageFact } from './fact.ts'
import { parseFacts, renderCoverage } from './render.ts'

const facts: CoverageFact[] = [
  { resource: 'v1/pods', verb: 'get', mediaType: 'table' },
  { resource: 'v1/pods', verb: 'get' },
  { resource: 'v1/pods', verb: 'patch', patchType: 'apply' },
  { resource: 'v1/pods', offered: ['get', 'list', 'patch'] },
  { resource: 'v1/pods', verb: 'get', mediaType: 'protobuf' },
  { resource: 'apps/v1/deployments', offered: ['list'] },
  { resource: 'example.com/v1/widgets', offered: ['patch'], patchTypes: ['json', 'merge', 'apply'] },
]

describe('the coverage table', () => {
  it('shows what is proved, what is open and what is not offered', () => {
    const lines = renderCoverage(facts)
      .split('\n')
      .filter(line => line.startsWith('| `'))
    assert.deepEqual(lines, [
      '| `apps/v1/deployments` | - | - |  | - | - | - | - | - | - | - | - | - |',
      '| `example.com/v1/widgets` | - | - | - | - | - |  |  | - |  | - | - | - |',
      '| `v1/pods` | - | json, table |  | - | - |  |  |  | json | - | - | get |',
    ])
  })

  it('is the same for the same facts in another order, and twice', () => {
    assert.equal(renderCoverage([...facts.toReversed(), ...facts]), renderCoverage(facts))
  })

  it('lists scenarios by controller, each once', () => {
    const scenarios = [
      { of: 'job-controller', scenario: 'is suspended' },
      { of: 'job-controller', scenario: 'completes' },
      { of: 'daemonset-controller', scenario: 'surges' },
      { of: 'job-controller', scenario: 'completes' },
    ]
    const lines = renderCoverage([...facts, ...scenarios]).split('\n')
    assert.ok(lines.some(line => line.startsWith('3 scenarios')))
    assert.deepEqual(
      lines.filter(line => /^(##|-) /.test(line)),
      ['## daemonset-controller (1)', '- surges', '## job-controller (2)', '- completes', '- is suspended'],
    )
  })

  it('says so when there is nothing', () => {
    assert.match(renderCoverage([]), /No test has recorded a fact yet/)
  })

  it('refuses a patch without its type', () => {
    assert.throws(() => renderCoverage([{ resource: 'v1/pods', verb: 'patch' }]), /patch type/)
  })
})

describe('recording coverage', () => {
  it('keeps the facts of tests that pass, and only of those', async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'coxswain-coverage-'))
    try {
      const file = join(scratch, 'planted.test.ts')
      const module = new URL('fact.ts', import.meta.url).href
      const observer = new URL('observe.ts', import.meta.url).href
      await writeFile(
        file,
        `import { it } from 'node:test'
         import { recordCoverage } from '${module}'
         it('good', t => recordCoverage(t, { resource: 'v1/pods', verb: 'get' }, { resource: 'v1/pods', verb: 'list' }))
         it('bad', t => { recordCoverage(t, { resource: 'v1/pods', verb: 'watch' }); throw new Error('no') })
         import { observeCoverage } from '${observer}'
         it('observed', async t => {
           const handler = observeCoverage(t, async () => ({ status: 200, headers: { 'content-type': 'application/json' } }))
           for (const method of ['PUT', 'PUT', 'GET']) {
             await handler({ method, path: '/api/v1/namespaces/x/pods/a', query: '', headers: {}, signal: AbortSignal.abort() })
           }
         })
         it('late', async t => { recordCoverage(t, { resource: 'v1/pods', verb: 'delete' }); await undefined; throw new Error('no') })`,
      )
      const collected = join(scratch, 'facts.jsonl')
      const result = await runFile(file, {
        scratch,
        timeout: 30_000,
        env: { ...process.env, COXSWAIN_COVERAGE: collected },
      })
      assert.equal(result.failures.length, 2)
      assert.deepEqual(
        parseFacts(await readFile(collected, 'utf8')).map(fact => 'verb' in fact && fact.verb),
        ['get', 'list', 'update', 'get'],
      )
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  })
})
