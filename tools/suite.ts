/**
 * `npm run test:NAME [-- FILTER...]`: one suite with real components. `node tools/suite.ts --list` names those that hold
 * tests. A suite without a test fails: it proves nothing.
 */
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureComponent } from './components/index.ts'
import { type Suite, suites } from './suites.ts'
import { runFiles } from './test/run-files.ts'
import { Tally } from './test/tally.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const [name, ...filters] = process.argv.slice(2)

if (name === '--list') {
  for (const suite of suites) if ((await filesOf(suite)).length > 0) console.log(suite.name)
  process.exit(0)
}
const suite = suites.find(each => each.name === name)
if (!suite) {
  console.error(
    `usage: node tools/suite.ts NAME [FILTER...]\nsuites: ${suites.map(each => each.name).join(', ')}`,
  )
  process.exit(2)
}
process.exit(await runSuite(suite))

async function runSuite({ title, components, timeout }: Suite): Promise<number> {
  const tally = new Tally()
  const files = (await filesOf(suite!)).filter(
    file => filters.length === 0 || filters.some(each => file.includes(each)),
  )
  if (files.length === 0)
    tally.fail(name!, `there is no test in interop/${name} (${filters.join(' ') || 'no filter'})`)
  if (tally.failed > 0) return tally.finish()
  for (const component of components) {
    await tally.stage(`component ${component}`, async () => {
      tally.note(await ensureComponent(component, line => tally.note(line)))
    })
  }
  if (tally.failed > 0) return tally.finish()
  await tally.stage(title, () =>
    runFiles({
      root,
      files: files.map(file => join(root, file)),
      tally,
      timeout: timeout * 1000,
      concurrency: 1,
    }),
  )
  return tally.finish()
}

async function filesOf({ name }: Suite): Promise<string[]> {
  const found: string[] = []
  for await (const file of glob(`interop/${name}/**/*.test.ts`, { cwd: root })) found.push(file)
  return found.sort()
}
