/**
 * Asks upstream's Go packages and keeps their answers as fixtures, which `npm test` compares with ours without Go.
 *
 *   node tools/oracle/record.ts [--seed N] [--only NAME]           records all questions
 *   node tools/oracle/record.ts --check [--seed N] [--only NAME]   asks a fresh slice and compares at once
 *
 * The exit code is 1 when an answer of ours differs.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { createRealRandom, createSeededRandom } from '@coxswain/kit'
import { askGo, buildOracle } from './ask-go.ts'
import type { Recording, Suite } from './suite.ts'
import { suites } from './suites/index.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const recordedSeed = 20_260_401
const checkedCount = 400
const shownDifferences = 5

const { values: options } = parseArgs({
  options: { seed: { type: 'string' }, only: { type: 'string' }, check: { type: 'boolean', default: false } },
})
const seed = Number(options.seed ?? (options.check ? createRealRandom().below(2 ** 31) : recordedSeed))
const chosen = suites.filter(suite => !options.only || suite.name === options.only)
if (!Number.isSafeInteger(seed) || chosen.length === 0) {
  console.error(`usage: record.ts [--check] [--seed N] [--only ${suites.map(suite => suite.name).join('|')}]`)
  process.exit(2)
}

const program = await buildOracle()
const upstream = await upstreamVersion()
let different = 0
for (const suite of chosen) different += await run(suite)
process.exit(different > 0 ? 1 : 0)

async function run(suite: Suite): Promise<number> {
  const count = options.check ? Math.min(checkedCount, suite.count) : suite.count
  const questions = suite.generate(createSeededRandom(seed), count)
  const answers = await askGo(program, suite.command, questions)
  let differences = 0
  for (const [index, question] of questions.entries()) {
    const ours = JSON.parse(JSON.stringify(suite.answer(question) ?? null)) as unknown
    if ((suite.isSame ?? isDeepStrictEqual)(ours, answers[index])) continue
    differences++
    if (differences > shownDifferences) continue
    console.log(`${suite.name}: ${JSON.stringify(question)}`)
    console.log(`  upstream ${JSON.stringify(answers[index])}\n  ours     ${JSON.stringify(ours)}`)
  }
  console.log(`${suite.name}: ${questions.length} questions, seed ${seed}, ${differences} different`)
  if (!options.check) await record(suite, questions, answers)
  return differences
}

async function record(
  suite: Suite,
  questions: readonly unknown[],
  answers: readonly unknown[],
): Promise<void> {
  const cases = questions.map((question, index) => ({ question, answer: answers[index] }))
  const recording: Recording = { suite: suite.name, upstream, seed, cases }
  const file = join(root, suite.fixture)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, gzipSync(JSON.stringify(recording), { level: 9 }))
}

/** The pinned module that answers. */
async function upstreamVersion(): Promise<string> {
  const module = await readFile(new URL('go/go.mod', import.meta.url), 'utf8')
  return /k8s\.io\/apimachinery v\S+/.exec(module)?.[0] ?? 'unknown'
}
