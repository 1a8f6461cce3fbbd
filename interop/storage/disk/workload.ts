/**
 * What the crash tests do to a store, as a program: `workload.ts DIRECTORY SEED ROUNDS`. Clients write values that say
 * what they are; each acknowledged write is a line `REVISION KEY SEQUENCE` in DIRECTORY/acknowledged, and on standard
 * output. Transactions of two keys write the same sequence to both. ROUNDS 0 goes on until it is killed.
 */
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createSeededRandom } from '@coxswain/kit'
import { openSqliteStore } from '@coxswain/storage/sqlite'

const [directory = '', seed = '1', rounds = '0'] = process.argv.slice(2)
const random = createSeededRandom(Number(seed))
const clients = 4
const padding = 'x'.repeat(600)
let sequence = Number(process.env.FIRST_SEQUENCE ?? '0')

const options = { directory, history: { revisions: 30, bytes: 0 }, checkpointBytes: 300_000 }
for (let life = 0; life < (rounds === '0' ? 1 : 2); life++) {
  const store = await openSqliteStore(options)
  const acknowledged = openSync(join(directory, 'acknowledged'), 'a')
  const say = (line: string) => {
    writeSync(acknowledged, `${line}\n`)
    process.stdout.write(`${line}\n`)
  }
  const client = async (index: number) => {
    for (let i = 0; rounds === '0' || i < Number(rounds) / 2; i++) {
      const mine = ++sequence
      const value = new TextEncoder().encode(`${mine} ${padding.slice(random.below(600))}`)
      const single = `/c${index}/k${random.below(4)}`
      if (random.below(4) === 0) {
        const keys = [`/pair${index}/a`, `/pair${index}/b`]
        const { revision } = await store.transact({
          operations: keys.map(key => ({ type: 'put', key, value })),
        })
        for (const key of keys) say(`${revision} ${key} ${mine}`)
      } else if (random.below(6) === 0) {
        const { revision } = await store.transact({ operations: [{ type: 'delete', key: single }] })
        say(`${revision} ${single} 0`)
      } else {
        const { revision } = await store.transact({ operations: [{ type: 'put', key: single, value }] })
        say(`${revision} ${single} ${mine}`)
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)))
  await store.close()
}
