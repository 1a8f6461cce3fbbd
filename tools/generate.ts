/**
 * `npm run generate -- [NAME...]`: runs generators and records what they read and wrote.
 * With `--check` a generator whose outputs then differ is a failure; the new outputs stay, to be looked at with git diff.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hashGenerator, lockPath, readGenerators, readLock } from './checks/generated-files.ts'
import { runOrFail } from './components/process.ts'
import { Tally } from './test/tally.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const args = process.argv.slice(2)
const check = args.includes('--check')
const names = args.filter(arg => arg !== '--check')

const generators = await readGenerators(root)
const unknown = names.filter(name => !generators.some(generator => generator.name === name))
if (unknown.length > 0) {
  console.error(
    `unknown generator: ${unknown.join(', ')}\ngenerators: ${generators.map(({ name }) => name).join(', ')}`,
  )
  process.exit(2)
}

const tally = new Tally()
const lock = await readLock(root)
for (const generator of generators.filter(({ name }) => names.length === 0 || names.includes(name))) {
  await tally.stage(`generate ${generator.name}`, async () => {
    const before = await hashGenerator(root, generator)
    const [command = '', ...rest] = generator.command
    await runOrFail(command, rest, { cwd: root })
    const after = await hashGenerator(root, generator)
    if (check && before.outputs !== after.outputs) {
      throw new Error(`${generator.name} now writes something else than is committed`)
    }
    lock[generator.name] = after
    tally.pass()
  })
}
if (!check) await writeFile(join(root, lockPath), `${JSON.stringify(lock, undefined, 2)}\n`)
process.exit(tally.finish())
