/**
 * `npm run torture [-- --runs N] [--seed N] [FILTER...]`: the full counts of the fuzz, fault, crash and oracle runs. A torture is a test
 * file that reads TORTURE_RUNS, or plays scenarios of controllers: `npm test` runs it small, this runs it with the number
 * given, from TORTURE_SEED on.
 * Without a filter the result is written to torture/RESULTS.md, with seed and commit.
 */
import { glob, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { run } from './components/process.ts'
import type { FileResult } from './test/run-file.ts'
import { runFiles } from './test/run-files.ts'
import { Tally } from './test/tally.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const timeout = 4 * 3_600_000
/** The last three read it for those that import them. */
const torture = /TORTURE_RUNS|test-support\/(play|stage-scenario|scheduling\/play-scenario)'/
const options = {
  runs: { type: 'string', default: '10000' },
  seed: { type: 'string', default: '1' },
} as const

const { values, positionals: filters } = parseArgs({ allowPositionals: true, options })
const { runs, seed } = values
if (!/^\d+$/.test(runs) || !/^\d+$/.test(seed)) {
  console.error('usage: npm run torture [-- --runs N] [--seed N] [FILTER...]')
  process.exit(2)
}

const tally = new Tally()
tally.note(`${runs} runs from seed ${seed}`)
await tally.stage('torture', async () => {
  const files = (await findTortures()).filter(
    file => filters.length === 0 || filters.some(filter => file.includes(filter)),
  )
  if (files.length === 0) throw new Error('no test file (of that name) reads TORTURE_RUNS')
  const env = { ...process.env, TORTURE_RUNS: runs, TORTURE_SEED: seed }
  const results = await runFiles({ root, files: files.map(file => join(root, file)), tally, timeout, env })
  if (filters.length === 0) await writeResults(results)
})
process.exit(tally.finish())

async function findTortures(): Promise<string[]> {
  const found: string[] = []
  for await (const file of glob('{packages,examples,interop}/**/*.test.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })) {
    if (torture.test(await readFile(join(root, file), 'utf8'))) found.push(file)
  }
  return found.sort()
}

async function writeResults(results: readonly FileResult[]): Promise<void> {
  const commit = (await run('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root })).stdout.trim()
  const changed =
    (await run('git', ['status', '--porcelain', '--untracked-files=no'], { cwd: root })).stdout !== ''
  const rows = results
    .toSorted((a, b) => a.file.localeCompare(b.file))
    .map(({ file, passed, failures, ms }) => {
      const seconds = Math.round(ms / 1000)
      return `| ${relative(root, file)} | ${passed} | ${failures.length} | ${seconds} |`
    })
  const when = new Date().toISOString().slice(0, 10)
  const text = [
    '# Torture: the last result',
    '',
    `${runs} runs from seed ${seed}, commit ${commit}${changed ? ' with changes' : ''}, Node ${process.versions.node}, ${when}.`,
    '',
    '| file | passed | failed | seconds |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
  await mkdir(join(root, 'torture'), { recursive: true })
  await writeFile(join(root, 'torture/RESULTS.md'), text)
}
