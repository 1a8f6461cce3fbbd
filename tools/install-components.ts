/** `node tools/install-components.ts NAME...`: fetches or builds real components into `.cache/bin`. */
import { type ComponentName, componentNames, ensureComponent } from './components/index.ts'

const names = process.argv.slice(2)
const unknown = names.filter(name => !componentNames.includes(name as ComponentName))
if (names.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) console.error(`unknown component: ${unknown.join(', ')}`)
  console.error(`usage: node tools/install-components.ts NAME...\ncomponents: ${componentNames.join(', ')}`)
  process.exit(2)
}
for (const name of names as ComponentName[]) {
  const path = await ensureComponent(name, line => console.error(line))
  console.log(`${name} ${path}`)
}
