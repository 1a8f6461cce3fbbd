import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { goEnvironment } from '../components/go-program.ts'
import { cacheFolder } from '../components/index.ts'
import { runOrFail } from '../components/process.ts'

const source = fileURLToPath(new URL('go', import.meta.url))
/** The schemas that some questions are about, for both sides. */
const schemas = fileURLToPath(
  new URL('../../packages/apimachinery/fixtures/schemas.json.gz', import.meta.url),
)

/** Builds the Go half; the build cache makes a second time cheap. */
export async function buildOracle(): Promise<string> {
  const program = join(cacheFolder, 'bin', 'oracle')
  await mkdir(join(cacheFolder, 'bin'), { recursive: true })
  await runOrFail('go', ['build', '-trimpath', '-o', program, '.'], { cwd: source, env: goEnvironment() })
  return program
}

/** Upstream's answers, in the order of the questions. */
export async function askGo(
  program: string,
  command: string,
  questions: readonly unknown[],
): Promise<unknown[]> {
  const env = { ...process.env, ORACLE_SCHEMAS: schemas }
  const child = spawn(program, [command], { stdio: ['pipe', 'pipe', 'inherit'], env })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stdin.on('error', () => {}) // a program that stops early says why by its exit code
  child.stdin.end(questions.map(question => `${JSON.stringify(question)}\n`).join(''))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code !== 0) throw new Error(`oracle ${command} ended with code ${code}`)
  const lines = Buffer.concat(chunks).toString('utf8').split('\n').filter(Boolean)
  if (lines.length !== questions.length) {
    throw new Error(`oracle ${command} gave ${lines.length} answers to ${questions.length} questions`)
  }
  return lines.map(line => JSON.parse(line) as unknown)
}
