/** `npm run check [-- NAME...]`: the rules of the repository, without the tests. */
import { fileURLToPath } from 'node:url'
import { formatFinding } from './checks/finding.ts'
import { checks } from './checks/index.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const names = process.argv.slice(2)
const unknown = names.filter(name => !checks.some(check => check.name === name))
if (unknown.length > 0) {
  console.error(`unknown check: ${unknown.join(', ')}\nchecks: ${checks.map(check => check.name).join(', ')}`)
  process.exit(2)
}
let errors = 0
for (const check of checks.filter(({ name }) => names.length === 0 || names.includes(name))) {
  for (const finding of await check.run(root)) {
    const isError = finding.level !== 'warning'
    if (isError) errors++
    console.log(`${isError ? 'error' : 'warning'} [${check.name}] ${formatFinding(finding)}`)
  }
}
console.log(`${errors} errors`)
process.exit(errors > 0 ? 1 : 0)
