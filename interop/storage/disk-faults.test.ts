import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkStore, openSqliteStore } from '@coxswain/storage/sqlite'
import { buildShim, shimEnvironment } from './disk/shim.ts'

interface Observed {
  readonly acknowledged: string[]
  readonly failures: string[]
  readonly later: string
  readonly cause: string
  readonly visible: string[]
  readonly revision: number
  readonly status: { readonly revision: number }
  /** The code of why writes fail, and whether they did not any more after the end of the fault. */
  readonly failure: string
  readonly recovered: boolean
}

interface Expected {
  /** What writes are refused with after the first. */
  readonly later: 'Failed' | 'NoSpace'
  /** The fault ends, and writes have to come back by themselves. */
  readonly recovers?: boolean
}

async function observe(fault: string, { later, recovers = false }: Expected): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-fault-'))
  try {
    const folder = join(directory, 'store')
    mkdirSync(folder)
    // So that the fault meets writes, not the creation of the store.
    await (await openSqliteStore({ directory: folder })).close()
    const program = fileURLToPath(new URL('./disk/fault-child.ts', import.meta.url))
    const faultFile = recovers ? { faultWhile: join(directory, 'full') } : undefined
    if (faultFile) writeFileSync(faultFile.faultWhile, '')
    const run = spawnSync(process.execPath, [program, folder, ...Object.values(faultFile ?? {})], {
      env: shimEnvironment(buildShim(), { folder, fault, faultSuffix: '-wal', ...faultFile }),
      encoding: 'utf8',
    })
    assert.equal(run.status, 0, run.stderr)
    const seen = JSON.parse(run.stdout) as Observed
    assert.ok(seen.acknowledged.length > 0, 'some writes were acknowledged before')
    assert.ok(seen.failures.length > 0, 'a write failed')
    for (const code of seen.failures) assert.match(code, /^(Failed|NoSpace|UnknownOutcome)$/)
    assert.equal(seen.later, later, 'later writes are refused')
    assert.equal(seen.failure, later, 'the store says that it cannot write')
    assert.equal(seen.recovered, recovers)
    assert.match(seen.cause, /disk|full/i, 'with the reason')
    assert.deepEqual(
      seen.visible.toSorted(),
      seen.acknowledged.filter(key => key !== '/recovered').toSorted(),
      'reads show what was acknowledged, no more',
    )
    assert.equal(seen.status.revision, seen.revision)

    assert.deepEqual(checkStore(folder).problems, [])
    await using store = await openSqliteStore({ directory: folder })
    const keys = new Set((await store.range('')).items.map(kv => kv.key))
    for (const key of seen.acknowledged) assert.ok(keys.has(key), `${key} is still there`)
    assert.ok((await store.status()).revision >= seen.revision)
    await store.transact({ operations: [{ type: 'put', key: '/again', value: new Uint8Array(1) }] })
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describe('a disk that fails', () => {
  const { ENOSPC, EIO } = constants.errno
  for (const count of [20, 40, 111]) {
    it(`is full from the ${count}th write on`, () =>
      observe(`write:${count}:${ENOSPC}`, { later: 'NoSpace' }))
    it(`is full from the ${count}th write on until there is space again`, () =>
      observe(`write:${count}:${ENOSPC}`, { later: 'NoSpace', recovers: true }))
    it(`cannot be written from the ${count}th write on`, () =>
      observe(`write:${count}:${EIO}`, { later: 'Failed' }))
  }
  for (const count of [4, 7, 30]) {
    it(`cannot be synced from the ${count}th sync on`, () =>
      observe(`sync:${count}:${EIO}`, { later: 'Failed' }))
  }
})

describe('a disk that takes 400 ms to sync', () => {
  it('delays what readers, lists, watches and progress show as long as the acknowledgement', {
    timeout: 60_000,
  }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'coxswain-slow-'))
    try {
      await (await openSqliteStore({ directory })).close()
      const program = fileURLToPath(new URL('./disk/slow-child.ts', import.meta.url))
      const run = spawnSync(process.execPath, [program, directory], {
        env: shimEnvironment(buildShim(), { folder: directory, syncDelay: 400 }),
        encoding: 'utf8',
      })
      assert.equal(run.status, 0, run.stderr)
      const seen = JSON.parse(run.stdout) as Record<string, number[]>
      assert.deepEqual(Object.keys(seen).toSorted(), [
        'acknowledged',
        'get',
        'progress',
        'range',
        'status',
        'watch',
      ])
      for (const [what, times] of Object.entries(seen)) {
        assert.equal(times.length, 5, what)
        for (const time of times)
          assert.ok(time >= 395, `${what} showed a write after ${time} ms, before it was synced`)
      }
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})
