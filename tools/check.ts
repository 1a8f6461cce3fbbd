/**
 * `npm run check [-- NAME...]`: the rules of the repository, without the tests. With `--lower`, the counts that only fall are
 * committed as low as they are now; with `--write`, docs/exports.md is written first.
 */
import { fileURLToPath } from 'node:url'
import { writeExportsPage } from './checks/exports-page.ts'
import { formatFinding } from './checks/finding.ts'
import { checks, ratchets } from './checks/index.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const lowers = process.argv.includes('--lower')
const names = process.argv.slice(2).filter(argument => !['--lower', '--write'].includes(argument))
const unknown = names.filter(name => !checks.some(check => check.name === name))
if (unknown.length > 0) {
  console.error(`unknown check: ${unknown.join(', ')}\nchecks: ${checks.map(check => check.name).join(', ')}`)
  process.exit(2)
}
const isNamed = ({ name }: { readonly name: string }) => names.length === 0 || names.includes(name)
if (lowers) {
  for (const ratchet of ratchets.filter(isNamed)) console.log(`${ratchet.name}: ${await ratchet.lower(root)}`)
}
if (process.argv.includes('--write')) await writeExportsPage(root)
let errors = 0
for (const check of checks.filter(isNamed)) {
  for (const finding of await check.run(root)) {
    const isError = finding.level !== 'warning'
    if (isError) errors++
    console.log(`${isError ? 'error' : 'warning'} [${check.name}] ${formatFinding(finding)}`)
  }
}
console.log(`${errors} errors`)
process.exit(errors > 0 ? 1 : 0)
