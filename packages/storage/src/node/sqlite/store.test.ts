import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { isStoreError, type StoreErrorCode } from '../../errors.ts'
import { checkHistory, recordHistory } from '../../history/record.ts'
import type { Store, WatchBatch } from '../../store.ts'
import { backupStore, checkStore, openSqliteStore, restoreIntoStore, restoreStore } from './index.ts'

// On a memory file system, if there is one, syncs cost nothing; the tests on a real disk are in interop/storage.
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'coxswain-sqlite-'))
after(() => rmSync(root, { recursive: true }))
let directories = 0
const newDirectory = () => join(root, String(directories++))

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => value && new TextDecoder().decode(value)
const hasCode = (code: StoreErrorCode) => (error: unknown) => isStoreError(error, code)

async function put(store: Store, key: string, value: string, ttl?: number): Promise<number> {
  const operation = { type: 'put' as const, key, value: bytes(value), ...(ttl ? { ttl } : {}) }
  return (await store.transact({ operations: [operation] })).revision
}

async function take(store: Store, from: number, count: number): Promise<string[]> {
  const words: string[] = []
  for await (const { changes } of store.watch('', { from, previous: true })) {
    for (const change of changes) {
      const now = change.type === 'put' ? text(change.kv.value) : 'deleted'
      words.push(
        `${change.type === 'put' ? change.kv.key : change.key}=${now}<${text(change.previous?.value) ?? ''}`,
      )
    }
    if (words.length >= count) break
  }
  return words
}

describe('a sqlite store that is opened again', () => {
  it('has what was written, its revision and its history', async () => {
    const directory = newDirectory()
    let from = 0
    {
      await using store = await openSqliteStore({ directory })
      from = await put(store, '/a', '1')
      await put(store, '/b', '1')
      await put(store, '/a', '2')
      await store.transact({ operations: [{ type: 'delete', key: '/b' }] })
    }
    await using store = await openSqliteStore({ directory })
    assert.equal((await store.status()).revision, from + 3)
    assert.equal(text((await store.get('/a')).kv?.value), '2')
    assert.equal(text((await store.get('/a', { revision: from })).kv?.value), '1')
    assert.deepEqual(await take(store, from, 4), ['/a=1<', '/b=1<', '/a=2<1', '/b=deleted<1'])
    assert.equal(await put(store, '/c', '1'), from + 4)
    assert.deepEqual(checkStore(directory).problems, [])
  })

  it('keeps the times to live', async () => {
    const directory = newDirectory()
    {
      await using store = await openSqliteStore({ directory })
      await put(store, '/short', '1', 50)
      await put(store, '/long', '1', 100_000)
      await put(store, '/kept', '1', 50)
      await put(store, '/kept', '2')
    }
    await using store = await openSqliteStore({ directory })
    for (let tries = 0; (await store.get('/short')).kv; tries++) {
      assert.ok(tries < 1_000, 'the key is still there')
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    assert.deepEqual(
      (await store.range('')).items.map(kv => kv.key),
      ['/kept', '/long'],
    )
  })

  it('remembers what was compacted', async () => {
    const directory = newDirectory()
    let revision = 0
    {
      await using store = await openSqliteStore({ directory })
      await put(store, '/a', '1')
      revision = await put(store, '/a', '2')
      await store.compact(revision)
    }
    await using store = await openSqliteStore({ directory })
    assert.equal((await store.status()).compactedRevision, revision)
    await assert.rejects(store.get('/a', { revision: revision - 1 }), hasCode('Compacted'))
    assert.deepEqual(checkStore(directory).problems, [])
  })
})

describe('a sqlite store', () => {
  it('delivers history that is no longer in memory from the disk', async () => {
    await using store = await openSqliteStore({ directory: newDirectory() })
    const from = await put(store, '/a', '0')
    for (let i = 1; i < 1500; i += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, j) => put(store, '/a', String(i + j))))
    }
    const words = await take(store, from, 1501)
    assert.equal(words.length, 1501)
    assert.deepEqual(words.slice(0, 2), ['/a=0<', '/a=1<0'])
    assert.equal(words[1500], '/a=1500<1499')
  })

  it('moves a watch from the disk to memory without gap or duplicate during writes', async () => {
    await using store = await openSqliteStore({ directory: newDirectory() })
    const from = await put(store, '/a', '0')
    await Promise.all(Array.from({ length: 1200 }, (_, i) => put(store, '/a', String(i + 1))))
    const writing = (async () => {
      for (let i = 1201; i <= 1400; i++) await put(store, '/a', String(i))
    })()
    const words = await take(store, from, 1401)
    assert.deepEqual(
      words,
      Array.from({ length: 1401 }, (_, i) => `/a=${i}<${i === 0 ? '' : i - 1}`),
    )
    await writing
  })

  it('is linearizable for concurrent clients', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      await using store = await openSqliteStore({ directory: newDirectory(), watch: { progressInterval: 5 } })
      const history = await recordHistory({ random: createSeededRandom(seed), stores: [store] })
      assert.deepEqual(checkHistory(history), [], `seed ${seed}`)
    }
  })

  it('is locked by one process and by one opener in it', async () => {
    const directory = newDirectory()
    await using _store = await openSqliteStore({ directory })
    await assert.rejects(openSqliteStore({ directory }), hasCode('Locked'))
    const script = join(root, 'open.ts')
    const source = new URL('./index.ts', import.meta.url)
    writeFileSync(
      script,
      `import { openSqliteStore } from '${source}'
       openSqliteStore({ directory: ${JSON.stringify(directory)} }).then(() => process.send('opened'), e => process.send(e.code))`,
    )
    const child = fork(script)
    const answer = await new Promise(resolve => child.once('message', resolve))
    child.kill('SIGKILL')
    assert.equal(answer, 'Locked')
  })

  it('rejects a directory of a newer format, and says so', async () => {
    const directory = newDirectory()
    await (await openSqliteStore({ directory })).close()
    const db = new DatabaseSync(join(directory, 'store.sqlite'))
    db.exec('PRAGMA user_version = 2')
    db.close()
    await assert.rejects(openSqliteStore({ directory }), hasCode('NewerFormat'))
  })

  it('rejects a database that is not a store', async () => {
    const directory = newDirectory()
    await (await openSqliteStore({ directory })).close()
    rmSync(join(directory, 'store.sqlite'))
    const db = new DatabaseSync(join(directory, 'store.sqlite'))
    db.exec('CREATE TABLE other (x)')
    db.close()
    await assert.rejects(openSqliteStore({ directory }), hasCode('Corrupt'))
    writeFileSync(
      join(directory, 'store.sqlite'),
      'this is no database at all, only text that is long enough',
    )
    await assert.rejects(openSqliteStore({ directory }), hasCode('Corrupt'))
  })

  it('rejects a database that has lost its end', async () => {
    const directory = newDirectory()
    const file = join(directory, 'store.sqlite')
    {
      await using store = await openSqliteStore({ directory })
      await put(store, '/a', '1')
    }
    const before = readFileSync(file)
    {
      await using store = await openSqliteStore({ directory })
      await put(store, '/a', '2')
    }
    writeFileSync(file, before)
    await assert.rejects(openSqliteStore({ directory }), hasCode('Corrupt'))
  })

  it('returns an error, not wrong data, when a value is damaged', async () => {
    const directory = newDirectory()
    {
      await using store = await openSqliteStore({ directory })
      await put(store, '/a', 'the value that is damaged')
      await put(store, '/b', 'sound')
    }
    const file = join(directory, 'store.sqlite')
    const content = readFileSync(file)
    content[content.indexOf('the value that')]! ^= 1
    writeFileSync(file, content)
    await using store = await openSqliteStore({ directory })
    await assert.rejects(store.get('/a'), hasCode('Corrupt'))
    await assert.rejects(store.range(''), hasCode('Corrupt'))
    assert.equal(text((await store.get('/b')).kv?.value), 'sound')
    assert.match(checkStore(directory).problems.join(), /checksum/)
    const overwrite = store.transact({ operations: [{ type: 'put', key: '/a', value: bytes('x') }] })
    await assert.rejects(overwrite, hasCode('Corrupt'))
    await put(store, '/b', 'writes to others go on')
  })

  it('does not keep what it has compacted', async () => {
    const directory = newDirectory()
    await using store = await openSqliteStore({ directory, history: { revisions: 50, bytes: 0 } })
    const value = 'x'.repeat(20_000)
    for (let i = 0; i < 500; i++) await put(store, '/a', value)
    for (let i = 0; i < 20; i++) {
      await put(store, `/b${i}`, value)
      await store.transact({ operations: [{ type: 'delete', key: `/b${i}` }] })
    }
    const { changes, keys, problems } = checkStore(directory)
    assert.deepEqual({ keys, problems }, { keys: 1, problems: [] })
    assert.ok(changes < 150, `${changes} changes are kept`)
  })

  it('delivers a huge transaction in one batch', async () => {
    await using store = await openSqliteStore({ directory: newDirectory() })
    const value = new Uint8Array(100_000)
    const operations = Array.from({ length: 100 }, (_, i) => ({ type: 'put' as const, key: `/k${i}`, value }))
    const { revision } = await store.transact({ operations })
    for (let i = 0; i < 4; i++) await store.transact({ operations })
    const batches: WatchBatch[] = []
    for await (const batch of store.watch('', { from: revision })) {
      batches.push(batch)
      if (batch.revision >= revision + 4) break
    }
    assert.deepEqual(
      batches.flatMap(({ changes }) => changes.length % 100),
      batches.map(() => 0),
    )
    assert.equal(
      batches.reduce((sum, { changes }) => sum + changes.length, 0),
      500,
    )
  })
})

describe('backup and restore', () => {
  it('copy a store in use, and restore it above every revision that was seen', async () => {
    const directory = newDirectory()
    const file = join(root, 'one.backup')
    await using store = await openSqliteStore({ directory })
    for (let i = 0; i < 20; i++) await put(store, `/k${i}`, `v${i}`)
    const writing = put(store, '/later', 'x')
    const report = backupStore(directory, file)
    await writing
    assert.deepEqual(report.problems, [])
    assert.ok(report.keys === 20 || report.keys === 21)
    assert.throws(() => restoreStore(directory, file), hasCode('Locked'))
    const last = await put(store, '/after', 'the backup')
    await store.close()

    restoreStore(directory, file)
    await using restored = await openSqliteStore({ directory })
    const { revision, compactedRevision } = await restored.status()
    assert.ok(revision > last, 'revisions do not come again')
    assert.equal(compactedRevision, revision)
    assert.equal((await restored.range('')).count, report.keys)
    assert.equal(text((await restored.get('/k7')).kv?.value), 'v7')
    await assert.rejects(restored.get('/k7', { revision: last }), hasCode('Compacted'))
    assert.equal(await put(restored, '/k7', 'new'), revision + 1)
    assert.deepEqual(await take(restored, revision + 1, 1), ['/k7=new<v7'])
    assert.deepEqual(checkStore(directory).problems, [])
  })

  it('restore a store in use to a backup, with events', async () => {
    const directory = newDirectory()
    const file = join(root, 'two.backup')
    await using store = await openSqliteStore({ directory })
    await put(store, '/same', '1')
    await put(store, '/changed', '1')
    await put(store, '/gone', '1')
    backupStore(directory, file)
    await put(store, '/changed', '2')
    await put(store, '/new', '1')
    const last = (await store.transact({ operations: [{ type: 'delete', key: '/gone' }] })).revision
    assert.deepEqual(await restoreIntoStore(store, file), { puts: 2, deletes: 1 })
    const words = await take(store, last + 1, 3)
    assert.deepEqual(words.toSorted(), ['/changed=1<2', '/gone=1<', '/new=deleted<1'])
  })

  it('reject a damaged backup', async () => {
    const directory = newDirectory()
    const file = join(root, 'three.backup')
    await using store = await openSqliteStore({ directory })
    await put(store, '/a', 'to be damaged')
    backupStore(directory, file)
    const content = readFileSync(file)
    content[content.indexOf('to be damaged')]! ^= 1
    writeFileSync(file, content)
    assert.throws(() => restoreStore(newDirectory(), file), hasCode('Corrupt'))
    await assert.rejects(restoreIntoStore(store, file), hasCode('Corrupt'))
    assert.ok(statSync(file).size > 0)
  })
})

describe('the files of a store and its backups', () => {
  const modesOf = (directory: string) =>
    Object.fromEntries(
      readdirSync(directory).map(name => [name, (statSync(join(directory, name)).mode & 0o777).toString(8)]),
    )

  it('can be read by their owner only, also those that an earlier release left readable', async () => {
    const directory = newDirectory()
    const names = ['head', 'lock.sqlite', 'store.sqlite', 'store.sqlite-shm', 'store.sqlite-wal']
    const secret = Object.fromEntries(names.map(name => [name, '600']))
    {
      await using store = await openSqliteStore({ directory })
      await put(store, '/secret', 'a')
      assert.deepEqual(modesOf(directory), secret)
    }
    for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o644)
    await using store = await openSqliteStore({ directory })
    await put(store, '/secret', 'b')
    assert.deepEqual(modesOf(directory), secret)
    const backups = newDirectory()
    const { keys } = backupStore(directory, makeFile(backups))
    assert.equal(keys, 1)
    assert.deepEqual(modesOf(backups), { backup: '600' })
    chmodSync(join(backups, 'backup'), 0o644)
    const restored = newDirectory()
    restoreStore(restored, join(backups, 'backup'))
    for (const [name, mode] of Object.entries(modesOf(restored))) assert.equal(mode, '600', name)
  })

  it('are never overwritten: a backup needs a new name', async () => {
    const directory = newDirectory()
    await using store = await openSqliteStore({ directory })
    await put(store, '/a', '1')
    const backups = newDirectory()
    const file = makeFile(backups)
    writeFileSync(file, 'precious')
    writeFileSync(`${file}.partial`, 'precious too')
    assert.throws(
      () => backupStore(directory, file),
      (error: Error) => hasCode('InvalidArgument')(error) && /backup exists: give/.test(error.message),
    )
    assert.equal(readFileSync(file, 'utf8'), 'precious')
    assert.equal(readFileSync(`${file}.partial`, 'utf8'), 'precious too')
    assert.deepEqual(readdirSync(backups).sort(), ['backup', 'backup.partial'])
  })

  it('leave nothing behind when a backup fails', async () => {
    const directory = newDirectory()
    {
      await using store = await openSqliteStore({ directory })
      for (let i = 0; i < 200; i++) await put(store, `/a/${i}`, 'x'.repeat(200))
    }
    const content = readFileSync(join(directory, 'store.sqlite'))
    content.fill(0xff, content.length / 2)
    writeFileSync(join(directory, 'store.sqlite'), content)
    const backups = newDirectory()
    assert.throws(() => backupStore(directory, makeFile(backups)), hasCode('Corrupt'))
    assert.deepEqual(readdirSync(backups), [])
  })
})

/** The path of a file in a directory created for it. */
function makeFile(directory: string): string {
  mkdirSync(directory)
  return join(directory, 'backup')
}
