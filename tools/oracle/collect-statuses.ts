/**
 * Collects every distinct failure that a real API server answered from recorded cases (gzipped JSON lines with a
 * `response.body` each), for the tests of Status and field errors.
 *
 *   node tools/oracle/collect-statuses.ts FOLDER-OF-CASES
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'

const folder = process.argv[2]
if (!folder) {
  console.error('usage: collect-statuses.ts FOLDER-OF-CASES')
  process.exit(2)
}

interface Case {
  readonly response: { readonly body?: { readonly kind?: string; readonly status?: string } | string }
}

const statuses = new Set<string>()
for (const file of globSync('**/*.jsonl.gz', { cwd: folder }).sort()) {
  for (const line of gunzipSync(readFileSync(join(folder, file)))
    .toString('utf8')
    .split('\n')) {
    if (line === '') continue
    const { body } = (JSON.parse(line) as Case).response
    if (typeof body === 'object' && body.kind === 'Status' && body.status === 'Failure') {
      statuses.add(JSON.stringify(body))
    }
  }
}
const target = new URL('../../packages/apimachinery/fixtures/statuses.json.gz', import.meta.url)
writeFileSync(target, gzipSync(`[${[...statuses].sort().join(',\n')}]`, { level: 9 }))
console.log(`${statuses.size} statuses`)
