/**
 * Writes packages/api/src/gen from the pinned Go modules of ./go. Needs Go and, the first time, the module proxy.
 *
 *   node tools/gen-api/gen.ts            writes
 *   node tools/gen-api/gen.ts --check    fails if writing would change anything
 *   --facts FILE                         takes the output of ./go from a file, or puts it there
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { coreRows } from '../../packages/api/src/resources/core.ts'
import { namedGroupRows } from '../../packages/api/src/resources/groups.ts'
import type { Table } from '../../packages/api/src/table/table.ts'
import { collectFacts, type Facts } from './facts.ts'
import { tableName, writeKinds } from './kinds-writer.ts'
import { packagesOf, writeTable } from './table-writer.ts'
import { header, writeTypes } from './types-writer.ts'
import { verifyTables } from './verify.ts'

const root = join(import.meta.dirname, '../..')
const output = join(root, 'packages/api/src/gen')
const { values } = parseArgs({ options: { check: { type: 'boolean' }, facts: { type: 'string' } } })

const facts = loadFacts(values.facts)
const tables = buildTables(facts)
verifyTables(facts, tables)
const files = writeFiles(tables)
if (values.check) check(files)
else write(files)

function loadFacts(file: string | undefined): Facts {
  if (file !== undefined && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Facts
  const collected = collectFacts(join(import.meta.dirname, 'go'))
  if (file !== undefined) writeFileSync(file, JSON.stringify(collected))
  return collected
}

/** Tables in an order in which each stands after those it uses. */
function buildTables(from: Facts): Table[] {
  const pending = packagesOf(from).map(owner => ({ owner, ...writeTable(from, owner) }))
  const done = new Map<string, Table>()
  while (done.size < pending.length) {
    const before = done.size
    for (const { owner, text, uses } of pending) {
      if (done.has(owner.alias) || !uses.every(alias => done.has(alias))) continue
      const { name, alias, group, version } = owner
      const used = uses.map(one => done.get(one) as Table)
      done.set(alias, { package: name, alias, group, version, uses: used, text })
    }
    if (done.size === before) throw new Error('packages refer to each other in a circle')
  }
  return [...done.values()]
}

function writeFiles(all: readonly Table[]): Map<string, string> {
  const result = new Map<string, string>()
  const groups = [coreRows, ...namedGroupRows]
  for (const table of all) {
    const served = groups.find(
      rows => rows.group === table.group && rows.versions.includes(table.version) && table.version !== '',
    )
    if (!isTyped(table, served !== undefined)) continue
    result.set(`types/${table.alias}.ts`, writeTypes(table))
    result.set(`kinds/${table.alias.replace('.', '/')}.ts`, writeKinds(table, served))
  }
  result.set('tables.ts', tablesFile(all))
  return result
}

/** Served groups, what they use, and what webhooks and discovery speak. */
function isTyped(table: Table, isServed: boolean): boolean {
  return isServed || ['meta.v1', 'admission.v1', 'apidiscovery.v2'].includes(table.alias)
}

/** One module for all: at a server's start a module costs more than the text in it. */
function tablesFile(all: readonly Table[]): string {
  const names = all.map(table => `  ${tableName(table)},\n`).join('')
  return `${header}import type { Table } from '../table/table.ts'

${all.map(tableText).join('\n')}
export const tables: readonly Table[] = [\n${names}]\n`
}

function tableText(table: Table): string {
  return `export const ${tableName(table)}: Table = {
  package: '${table.package}',
  alias: '${table.alias}',
  group: '${table.group}',
  version: '${table.version}',
  uses: [${table.uses.map(tableName).join(', ')}],
  text: \`${table.text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('$', '\\$')}\`,
}
`
}

function write(all: ReadonlyMap<string, string>): void {
  rmSync(output, { recursive: true, force: true })
  for (const [name, text] of all) {
    mkdirSync(dirname(join(output, name)), { recursive: true })
    writeFileSync(join(output, name), text)
  }
  const size = [...all.values()].reduce((sum, text) => sum + text.length, 0)
  console.log(`${all.size} files, ${Math.round(size / 1024)} KB`)
}

function check(all: ReadonlyMap<string, string>): void {
  const present = readdirSync(output, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(output.length + 1))
  const stale = [
    ...present.filter(name => !all.has(name)),
    ...[...all].filter(([name, text]) => readIfPresent(join(output, name)) !== text).map(([name]) => name),
  ]
  if (stale.length > 0) {
    console.error(`packages/api/src/gen is not what tools/gen-api writes: ${stale.join(', ')}`)
    process.exitCode = 1
  }
}

function readIfPresent(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
