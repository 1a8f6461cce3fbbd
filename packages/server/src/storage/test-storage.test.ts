import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { createMemoryStorage } from './memory-storage.ts'
import type { ObjectStorage, StorageEvent } from './object-storage.ts'
import { testStorage } from './test-storage.ts'

const object = (name: string, variant: number) =>
  ({ apiVersion: 'example.com/v1', kind: 'Note', metadata: { name }, variant }) as unknown as ApiObject

/** The names of the tests that fail. */
async function failuresOf(change: (storage: ObjectStorage) => Partial<ObjectStorage>): Promise<string[]> {
  const failed: string[] = []
  const tests: [string, () => Promise<void>][] = []
  testStorage({
    it: (name, test) => tests.push([name, test]),
    create: () => {
      const storage = createMemoryStorage()
      return { ...storage, ...change(storage) }
    },
    object,
    patience: 100,
  })
  for (const [name, test] of tests) await test().catch(() => failed.push(name))
  return failed
}

async function* dropping(events: AsyncIterable<StorageEvent>, drop: (index: number) => boolean) {
  let index = 0
  for await (const event of events) if (!drop(index++)) yield event
}

/** Mistakes, each with the test that has to find it. */
const mistakes: Readonly<
  Record<string, readonly [string, (storage: ObjectStorage) => Partial<ObjectStorage>]>
> = {
  'a put that ignores the expected version': [
    'a put whose condition does not hold changes nothing',
    storage => ({
      put: async (each, expected) =>
        (await storage.put(each, expected)) ??
        (await storage.put(
          each,
          (
            await storage.get({ name: each.metadata.name })
          )?.metadata.resourceVersion,
        )),
    }),
  ],
  'a deletion that ignores the expected version': [
    'a deletion needs the version, and has one of its own',
    storage => ({
      delete: async key => {
        const version = (await storage.get(key))?.metadata.resourceVersion
        return version === undefined ? undefined : await storage.delete(key, version)
      },
    }),
  ],
  'a watch that misses a change': [
    'a watch delivers every change after a version once, in order',
    storage => ({ watch: options => dropping(storage.watch(options), index => index === 1) }),
  ],
  'a watch that begins with everything': [
    'a watch delivers every change after a version once, in order',
    storage => ({ watch: options => storage.watch({ ...options, resourceVersion: '1' }) }),
  ],
  'a watch that never ends': [
    'a watch ends when its signal aborts',
    storage => ({ watch: options => storage.watch({ ...options, signal: new AbortController().signal }) }),
  ],
  'a list with the version of nothing': [
    'an empty storage has a version, and no objects',
    storage => ({ list: async () => ({ ...(await storage.list()), resourceVersion: '0' }) }),
  ],
  'a list that is older than its objects': [
    'a new object is read as it was put, with its version',
    storage => ({ list: async () => ({ ...(await storage.list()), resourceVersion: '1' }) }),
  ],
  'an object without its version': [
    'a new object is read as it was put, with its version',
    storage => ({
      get: async key => {
        const found = await storage.get(key)
        return found && { ...found, metadata: { ...found.metadata, resourceVersion: '' } }
      },
    }),
  ],
}

describe('the tests of a storage', () => {
  it('pass for one that keeps the contract', async () => {
    assert.deepEqual(await failuresOf(() => ({})), [])
  })

  for (const [mistake, [test, change]] of Object.entries(mistakes))
    it(`find ${mistake}`, async () => {
      const failed = await failuresOf(change)
      assert.ok(failed.includes(test), failed.join(', ') || 'no test failed')
    })
})
