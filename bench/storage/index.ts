import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '@coxswain/storage/sqlite'
import { runOrFail } from '../../tools/components/process.ts'
import type { BenchDefinition } from '../harness.ts'
import { importCompiled, type SqliteModule } from './compiled.ts'
import { startEtcd } from './etcd.ts'
import { deliver, fill, readFileThrough, syncFile, write } from './load.ts'

/** How long one round writes, in milliseconds. */
const time = 1500
const large = 1_000_000
const medium = 100_000

export const bench: BenchDefinition = {
  title: "storage: durable writes of 2 KB on sqlite, beside the disk's own fdatasync and etcd 3.6",
  async cases(stack) {
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const store = stack.use(await openSqliteStore({ directory: join(folder, 'store') }))
    const etcd = stack.use(await startEtcd(join(folder, 'etcd')))
    const compiled = await importCompiled()
    const mediumFolder = join(folder, 'medium')
    const largeFolder = join(folder, 'large')
    for (const [directory, count] of [
      [mediumFolder, medium],
      [largeFolder, large],
    ] as const) {
      await using filled = await openSqliteStore({ directory })
      await fill(filled, count)
    }
    return [
      {
        name: 'writes, one at a time, beside the disk',
        unit: 'writes/s',
        measure: async () => (await write(store, 1, time)).rate,
        reference: { name: 'fdatasync', measure: () => syncFile(join(folder, 'sync'), time) },
        goal: { of: 'ratio', atLeast: 0.35 },
      },
      {
        name: 'writes, one at a time, beside etcd',
        unit: 'writes/s',
        measure: async () => (await write(store, 1, time)).rate,
        reference: { name: 'etcd 3.6, Go client', measure: () => etcd.put(1, time) },
        goal: { of: 'ratio', atLeast: 1.5 },
      },
      {
        name: 'writes, 128 at a time, beside etcd',
        unit: 'writes/s',
        measure: async () => (await write(store, 128, time)).rate,
        reference: { name: 'etcd 3.6, Go client', measure: () => etcd.put(128, time) },
        goal: { of: 'ratio', atLeast: 2.5 },
      },
      {
        name: 'event-loop lag at p99, 128 writes at a time',
        unit: 'ms',
        measure: async () => (await write(store, 128, time)).lag,
        goal: { of: 'value', atMost: 10 },
      },
      {
        name: 'changes delivered to 1,000 watches',
        unit: 'changes/s',
        measure: () => deliver(1000, time),
        goal: { of: 'value', atLeast: 1_000_000 },
      },
      {
        name: 'opening a store of 100,000 objects, compiled as published',
        unit: 'ms',
        measure: () => measureOpening(compiled, mediumFolder),
        reference: {
          name: 'reading its file',
          measure: () => readFileThrough(join(mediumFolder, 'store.sqlite')),
        },
        goal: { of: 'ratio', atMost: 2 },
      },
      {
        name: 'memory of a store of 1,000,000 objects',
        unit: 'MB',
        measure: () => measureMemory(largeFolder),
        goal: { of: 'value', atMost: 200 },
      },
    ]
  },
}

async function measureOpening(module: SqliteModule, directory: string): Promise<number> {
  const start = performance.now()
  await using _store = await module.openSqliteStore({ directory })
  return performance.now() - start
}

async function measureMemory(directory: string): Promise<number> {
  const program = fileURLToPath(new URL('./memory-child.ts', import.meta.url))
  if (!existsSync(directory)) throw new Error(`${directory} is missing`)
  return Number(await runOrFail(process.execPath, ['--expose-gc', program, directory]))
}
