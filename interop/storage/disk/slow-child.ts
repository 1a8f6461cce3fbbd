/**
 * `slow-child.ts DIRECTORY`: on a disk that syncs slowly, writes five times, and says in one line of JSON after how many
 * milliseconds each way to look at the store showed the write.
 */
import { openSqliteStore } from '@coxswain/storage/sqlite'

const [directory = ''] = process.argv.slice(2)
const store = await openSqliteStore({ directory, watch: { progressInterval: 5 } })
const seen: Record<string, number[]> = {}
const pause = () => new Promise(resolve => setTimeout(resolve, 5))

for (let i = 0; i < 5; i++) {
  const { revision } = await store.status()
  const key = `/slow/${i}`
  const start = performance.now()
  const note = (what: string) => {
    seen[what] = [...(seen[what] ?? []), Math.round(performance.now() - start)]
  }
  const poll = async (what: string, shows: () => Promise<boolean>) => {
    while (!(await shows())) await pause()
    note(what)
  }
  const follow = async (what: string, prefix: string, progress: boolean) => {
    for await (const batch of store.watch(prefix, { from: revision + 1, progress })) {
      if (batch.revision > revision) break
    }
    note(what)
  }
  const write = store.transact({ operations: [{ type: 'put', key, value: new Uint8Array(100) }] })
  await Promise.all([
    write.then(() => note('acknowledged')),
    poll('get', async () => (await store.get(key)).kv !== undefined),
    poll('range', async () => (await store.range('/slow/')).revision > revision),
    poll('status', async () => (await store.status()).revision > revision),
    follow('watch', '/slow/', false),
    follow('progress', '/quiet/', true),
  ])
}
process.stdout.write(JSON.stringify(seen))
await store.close()
