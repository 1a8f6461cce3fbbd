/** `memory-child.ts DIRECTORY`: opens a large store, works with it, and prints by how many megabytes the process grew. */
import { openSqliteStore } from '@coxswain/storage/sqlite'
import { write } from './load.ts'

const [directory = ''] = process.argv.slice(2)
const megabytes = () => process.memoryUsage.rss() / 2 ** 20
globalThis.gc?.()
const before = megabytes()
const store = await openSqliteStore({ directory })
let start = '/pods/'
for (let page = 0; page < 200; page++) {
  const { items, more } = await store.range('/pods/', { start, limit: 500 })
  if (!more) break
  start = `${items.at(-1)!.key}\0`
}
for (let i = 0; i < 2000; i++) await store.get(`/pods/namespace-${i % 100}/pod-${i}`)
await write(store, 16, 2000)
globalThis.gc?.()
process.stdout.write(String(megabytes() - before))
await store.close()
