/** `node tools/run.js interop/aggregation/record.ts KUBECONFIG [FILE]`: records what the server of a kubeconfig does. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { collectFacts } from './facts.ts'

const [kubeconfig, file = fileURLToPath(new URL('recorded.json', import.meta.url))] = process.argv.slice(2)
if (kubeconfig === undefined) {
  console.error('usage: node tools/run.js interop/aggregation/record.ts KUBECONFIG [FILE]')
  process.exit(2)
}
const facts = await collectFacts(kubeconfig)
writeFileSync(file, `${JSON.stringify(facts, undefined, 2)}\n`)
