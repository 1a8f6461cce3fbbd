/**
 * `npm run conformance -- [OPTIONS]`: upstream's conformance tests, with upstream's e2e.test, against `coxswain up` and real kubelets.
 * Results are written after every batch, and docs/conformance.md from them.
 */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureComponent } from '../../tools/components/index.ts'
import { suites } from '../../tools/suites.ts'
import { startKubeletCluster } from './cluster/cluster.ts'
import { listTests, runTests } from './conformance/e2e.ts'
import { writePage } from './conformance/page.ts'
import { mergeResults, readResults, type TestResult, writeResults } from './conformance/results.ts'

const usage = `Usage: npm run conformance -- [options]

  --focus RE       run only tests whose name matches
  --verdict WHICH  run only tests that passed, failed or did not run (not-run) the last time
  --processes N    tests at a time; those marked [Serial] run one at a time (default: 4)
  --batch N        tests between two writes of the results (default: 40)
  --logs DIR       where logs of all programs and the output of the tests go (default: a new folder)
  --page           only write docs/conformance.md from the results that are there
  --help           print this help`

const { values } = parseArgs({
  options: {
    focus: { type: 'string', default: '' },
    verdict: { type: 'string' },
    processes: { type: 'string', default: '4' },
    batch: { type: 'string', default: '40' },
    logs: { type: 'string' },
    page: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(usage)
else if (values.page) writePage(readResults())
else process.exitCode = await runAll()

async function runAll(): Promise<number> {
  const components = suites.find(({ name }) => name === 'kubelet')!.components
  for (const name of [...components, 'e2e.test-1.36', 'ginkgo-1.36'] as const)
    await ensureComponent(name, line => console.log(line))
  const logs = values.logs ?? mkdtempSync(join(tmpdir(), 'conformance-'))
  mkdirSync(logs, { recursive: true })
  console.log(`logs in ${logs}`)
  const all = await listTests(logs)
  let results = mergeResults(readResults(), all, [])
  const chosen = results.tests
    .filter(test => new RegExp(values.focus).test(test.name))
    .filter(test => values.verdict === undefined || test.verdict === values.verdict.replace('-', ' '))
    .map(test => test.name)
  console.log(`${chosen.length} of ${all.length} tests`)
  await using cluster = await startKubeletCluster({ logs, note: line => console.log(line) })
  const ran: TestResult[] = []
  const batches = [
    ...batchesOf(chosen.filter(name => !name.includes('[Serial]'))).map(names => ({
      names,
      processes: Number(values.processes),
    })),
    ...batchesOf(chosen.filter(name => name.includes('[Serial]'))).map(names => ({ names, processes: 1 })),
  ]
  for (const [index, batch] of batches.entries()) {
    const found = await runTests(cluster.controlPlane, { ...batch, folder: logs, label: `batch-${index}` })
    ran.push(...found)
    results = mergeResults(readResults(), all, found)
    writeResults(results)
    writePage(results)
    for (const { name, failure } of found.filter(({ verdict }) => verdict === 'failed'))
      console.log(`FAILED ${name}\n       ${failure}`)
    console.log(`${new Date().toISOString()} batch ${index + 1} of ${batches.length}: ${summaryOf(ran)}`)
  }
  console.log(`${summaryOf(ran)}, ${chosen.length - ran.length} not run`)
  return ran.length === chosen.length && ran.every(({ verdict }) => verdict === 'passed') ? 0 : 1
}

function batchesOf(names: readonly string[]): string[][] {
  const size = Number(values.batch)
  return Array.from({ length: Math.ceil(names.length / size) }, (_, index) =>
    names.slice(index * size, (index + 1) * size),
  )
}

function summaryOf(tests: readonly TestResult[]): string {
  const passed = tests.filter(({ verdict }) => verdict === 'passed').length
  return `${passed} passed, ${tests.length - passed} failed`
}
