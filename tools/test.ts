/**
 * `npm test [-- FILTER...]`: everything that needs only Node. With filters, only the test files whose path holds one
 * of them. `npm run coverage` is the same with `--coverage`, and writes docs/coverage.md instead of comparing it.
 * Ends in a line `N passed, N failed`.
 */
import { existsSync } from 'node:fs'
import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatFinding } from './checks/finding.ts'
import { checks } from './checks/index.ts'
import { run } from './components/process.ts'
import { parseFacts, renderCoverage } from './coverage/render.ts'
import { runFiles } from './test/run-files.ts'
import { Tally } from './test/tally.ts'
import { testFiles } from './test/test-files.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const coverageTable = 'docs/coverage.md'

const writesCoverage = process.argv.includes('--coverage')
const filters = process.argv.slice(2).filter(argument => argument !== '--coverage')
const tally = new Tally()
const scratch = await mkdtemp(join(tmpdir(), 'coxswain-coverage-'))
const facts = join(scratch, 'facts.jsonl')

try {
  if (filters.length === 0) {
    await tally.stage('types', () => program('tsc', ['-p', 'tsconfig.json']))
    await tally.stage('declarations', () => program('tsc', ['-p', 'tsconfig.declarations.json']))
    await tally.stage('lint and format', () => program('biome', ['check', '--error-on-warnings', '.']))
    await tally.stage('checks', runChecks)
  }
  await tally.stage('tests', runTests)
  if (filters.length === 0) await tally.stage('coverage table', settleCoverage)
} finally {
  await rm(scratch, { recursive: true, force: true })
}
process.exit(tally.finish())

async function program(name: string, args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await run(join(root, 'node_modules/.bin', name), args, { cwd: root })
  if (code !== 0) throw new Error(`${stdout}${stderr}`)
  tally.pass()
}

async function runChecks(): Promise<void> {
  for (const check of checks) {
    const findings = await check.run(root)
    const errors = findings.filter(finding => finding.level !== 'warning')
    for (const finding of findings) {
      if (finding.level === 'warning') tally.note(`warning: ${formatFinding(finding)}`)
    }
    if (errors.length === 0) tally.pass()
    else tally.fail(`check ${check.name}`, errors.map(formatFinding).join('\n'))
  }
}

async function runTests(): Promise<void> {
  const files: string[] = []
  for await (const file of glob([...testFiles], { cwd: root, exclude: ['**/node_modules/**'] })) {
    if (filters.length === 0 || filters.some(filter => file.includes(filter))) files.push(join(root, file))
  }
  if (files.length === 0) throw new Error(`no test file matches ${filters.join(' ')}`)
  await runFiles({ root, files: files.sort(), tally, env: { ...process.env, COXSWAIN_COVERAGE: facts } })
}

/** The facts of this run are the table, or become it. A run with failures proves less and says nothing about it. */
async function settleCoverage(): Promise<void> {
  if (tally.failed > 0) return tally.note('not compared: something failed')
  const table = renderCoverage(parseFacts(existsSync(facts) ? await readFile(facts, 'utf8') : ''))
  if (writesCoverage) await writeFile(join(root, coverageTable), table)
  else if (table !== (await readFile(join(root, coverageTable), 'utf8').catch(() => ''))) {
    throw new Error(`${coverageTable} is not what the tests prove; run: npm run coverage`)
  }
  tally.pass()
}
