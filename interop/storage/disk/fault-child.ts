/**
 * `fault-child.ts DIRECTORY [FILE]`: writes until the disk fails, then says in one line of JSON what the store did about it. The
 * fault ends when the file is removed.
 */
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isStoreError } from '@coxswain/storage'
import { openSqliteStore } from '@coxswain/storage/sqlite'

const [directory = '', faultFile] = process.argv.slice(2)
const store = await openSqliteStore({ directory })
const codeOf = (error: unknown) => (isStoreError(error) ? error.code : String(error))
const value = new TextEncoder().encode('x'.repeat(2000))
const put = (key: string) => store.transact({ operations: [{ type: 'put', key, value }] })

const acknowledged: string[] = []
const failures: string[] = []
for (let i = 0; failures.length === 0 && i < 500; i++) {
  const keys = Array.from({ length: 4 }, (_, j) => `/k${i}-${j}`)
  for (const [j, outcome] of (await Promise.allSettled(keys.map(put))).entries()) {
    if (outcome.status === 'fulfilled') acknowledged.push(keys[j]!)
    else failures.push(codeOf(outcome.reason))
  }
}
const later = await put('/later').then(
  () => 'accepted',
  error => codeOf(error),
)
const cause = await put('/later').catch(error => String(error.cause))
const { items, revision } = await store.range('')
const visible = items.map(kv => kv.key)
const status = await store.status()
const failure = store.writeFailure?.()?.code
let recovered = false
if (faultFile !== undefined) {
  rmSync(faultFile)
  for (let tries = 0; store.writeFailure?.() && tries < 100; tries++) await sleep(100)
  recovered = store.writeFailure?.() === undefined
  await put('/recovered')
  acknowledged.push('/recovered')
}
await store.close().catch(() => {})
process.stdout.write(
  JSON.stringify({ acknowledged, failures, later, cause, visible, revision, status, failure, recovered }),
)
