import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteStore } from '@coxswain/storage/sqlite'
import type { Job } from './jobs.ts'
import type { Measured } from './load.ts'
import { type Server, startOurs } from './servers.ts'
import { residentMegabytes } from './usage.ts'

/** Before memory is read: long enough for what the load has left behind to be collected. */
const idleTime = 20_000

/** The memory of a server with so many pods, some time after the last was made. */
export async function memoryOf(
  start: () => Promise<Server>,
  run: (server: Server, job: Job) => Promise<Measured>,
  pods: number,
): Promise<number> {
  await using server = await start()
  if (pods > 0) await run(server, { type: 'fill', access: server.access, namespace: 'many', count: pods })
  await sleep(pods > 0 ? idleTime : idleTime / 4)
  return residentMegabytes(server.pids)
}

const million = 1_000_000
const batch = 100

/** Resident memory of a server that has loaded a million ConfigMaps of 2 KB, in units of their bytes. Measured once. */
export function millionObjects(): () => Promise<number> {
  let known: Promise<number> | undefined
  return () => {
    known ??= measureMillion()
    return known
  }
}

async function measureMillion(): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
  try {
    const payload = await writeMillion(join(dataDir, 'store'))
    await using server = await startOurs({ dataDir })
    await sleep(idleTime)
    return (residentMegabytes(server.pids) * 1e6) / payload
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Writes the objects as the server would; says how many bytes they are. */
async function writeMillion(directory: string): Promise<number> {
  await using store = await openSqliteStore({ directory })
  let payload = 0
  let pending: Promise<unknown>[] = []
  for (let first = 0; first < million; first += batch) {
    const operations = Array.from({ length: batch }, (_, index) => {
      const number = first + index
      const name = `object-${String(number).padStart(7, '0')}`
      const namespace = `namespace-${number % 100}`
      const object = {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name, namespace, uid: `00000000-0000-4000-8000-00000${String(number).padStart(7, '0')}` },
        data: { text: String(number).padStart(1_850, '.') },
      }
      const value = Buffer.from(JSON.stringify(object))
      payload += value.length
      return { type: 'put' as const, key: `/core/configmaps/${namespace}/${name}`, value }
    })
    pending.push(store.transact({ conditions: [], operations }))
    if (pending.length === 32) {
      await Promise.all(pending)
      pending = []
    }
  }
  await Promise.all(pending)
  return payload
}
