/** `npm run bench -- NAME [--json FILE]`: runs `bench/NAME/index.ts` and prints a Markdown table. */
import { readdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type BenchDefinition, formatTable, runBench, toJson } from './harness.ts'

const entries = await readdir(new URL('.', import.meta.url), { withFileTypes: true })
const names = entries.filter(entry => entry.isDirectory()).map(entry => entry.name)

function readArguments(): { name: string; json: string | undefined } {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { json: { type: 'string' } },
    })
    const [name, ...more] = positionals
    if (name && names.includes(name) && more.length === 0) return { name, json: values.json }
    if (name) console.error(`unknown benchmark: ${positionals.join(' ')}`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
  }
  console.error(`usage: npm run bench -- NAME [--json FILE]\nbenchmarks: ${names.join(', ')}`)
  process.exit(2)
}

const { name, json } = readArguments()
const { bench } = (await import(`./${name}/index.ts`)) as { bench?: BenchDefinition }
if (!bench) throw new Error(`bench/${name}/index.ts exports no bench`)
const rows = await runBench(bench)
console.log(formatTable(bench.title, rows))
console.log(
  `Node ${process.versions.node}, ${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown processor'}.`,
)
if (json) await writeFile(json, toJson(rows))
process.exit(0)
