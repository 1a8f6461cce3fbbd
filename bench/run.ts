/** `npm run bench -- NAME [--json FILE]`: runs `bench/NAME/index.ts` and prints a Markdown table. */
import { readdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type BenchDefinition, formatTable, runBench, toJson } from './harness.ts'

const entries = await readdir(new URL('.', import.meta.url), { withFileTypes: true })
const names = entries.filter(entry => entry.isDirectory()).map(entry => entry.name)

const [name = '', ...rest] = process.argv.slice(2)
if (!names.includes(name)) fail(name ? `unknown benchmark: ${name}` : 'which one?')
const { bench, options = {} } = (await import(`./${name}/index.ts`)) as BenchModule
if (!bench) throw new Error(`bench/${name}/index.ts exports no bench`)
const json = readJsonOption()

/** What `bench/NAME/index.ts` exports. A benchmark with options of its own reads them itself. */
interface BenchModule {
  readonly bench?: BenchDefinition
  readonly options?: NonNullable<ParseArgsConfig['options']>
}

function readJsonOption(): string | undefined {
  try {
    const { values } = parseArgs({ args: rest, options: { ...options, json: { type: 'string' } } })
    return values.json as string | undefined
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

function fail(message: string): never {
  console.error(message)
  console.error(`usage: npm run bench -- NAME [--json FILE]\nbenchmarks: ${names.join(', ')}`)
  process.exit(2)
}

const rows = await runBench(bench)
console.log(formatTable(bench.title, rows))
console.log(
  `Node ${process.versions.node}, ${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown processor'}.`,
)
if (json) await writeFile(json, toJson(rows))
process.exit(0)
