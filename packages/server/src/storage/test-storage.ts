import type { ApiObject, ObjectKey } from '@coxswain/apimachinery/meta'
import { isResourceExpired } from '@coxswain/apimachinery/status'
import { createRealEnv } from '@coxswain/kit'
import type { ObjectStorage, StorageEvent } from './object-storage.ts'

/** What the tests of a storage need. */
export interface TestStorageOptions<T extends ApiObject> {
  /** An empty storage, for each test. It is disposed of afterwards, if it can be. */
  readonly create: () => Promise<ObjectStorage<T>> | ObjectStorage<T>
  /** An object of this name; two calls with another `variant` differ. Without a resourceVersion. */
  readonly object: (name: string, variant: number) => T
  /** How long a watch may take to deliver a change, in milliseconds. @default 5000 */
  readonly patience?: number
  /** Defines one test: `it` of node:test, or of another runner. */
  readonly it: (name: string, test: () => Promise<void>) => unknown
}

/** Defines the tests of the contract of {@link ObjectStorage}: run them on a storage of your own. */
export function testStorage<T extends ApiObject>(options: TestStorageOptions<T>): void {
  for (const [name, test] of Object.entries(tests))
    options.it(name, async () => {
      const storage = await options.create()
      const stop = new AbortController()
      try {
        await test({ ...options, storage: storage as ObjectStorage, signal: stop.signal } as unknown as Stage)
      } finally {
        stop.abort()
        await (storage as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.()
      }
    })
}

interface Stage extends TestStorageOptions<ApiObject> {
  readonly storage: ObjectStorage
  readonly signal: AbortSignal
}

const tests: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  'an empty storage has a version, and no objects': async ({ storage, object }) => {
    const { items, resourceVersion } = await storage.list()
    same(items.length, 0, 'objects of an empty storage')
    versionOf(resourceVersion)
    same(await storage.get(keyOf(object('a', 1))), undefined, 'an object that does not exist')
  },

  'a new object is read as it was put, with its version': async ({ storage, object }) => {
    const before = await storage.list()
    const version = required(await storage.put(object('a', 1), undefined), 'a put of a new object')
    higher(version, before.resourceVersion)
    const read = required(await storage.get(keyOf(object('a', 1))), 'get')
    same(plain(read), plain(object('a', 1)), 'the object that was read')
    same(read.metadata.resourceVersion, version, 'its resourceVersion')
    const { items, resourceVersion } = await storage.list()
    same(items.map(plain), [plain(object('a', 1))], 'the list')
    if (versionOf(resourceVersion) < versionOf(version)) throw new Error('the list is older than its object')
  },

  'a put whose condition does not hold changes nothing': async ({ storage, object }) => {
    const first = required(await storage.put(object('a', 1), undefined), 'put')
    same(await storage.put(object('a', 2), undefined), undefined, 'a put of an object that exists')
    same(await storage.put(object('b', 2), first), undefined, 'a put of an object that does not exist')
    const second = required(await storage.put(object('a', 2), first), 'a put over the expected version')
    higher(second, first)
    same(await storage.put(object('a', 3), first), undefined, 'a put over an old version')
    same(plain((await storage.get(keyOf(object('a', 1))))!), plain(object('a', 2)), 'the object')
  },

  'a deletion needs the version, and has one of its own': async ({ storage, object }) => {
    const key = keyOf(object('a', 1))
    const first = required(await storage.put(object('a', 1), undefined), 'put')
    const second = required(await storage.put(object('a', 2), first), 'put')
    same(await storage.delete(key, first), undefined, 'a deletion of an old version')
    const third = required(await storage.delete(key, second), 'a deletion')
    higher(third, second)
    same(await storage.get(key), undefined, 'a deleted object')
    same(await storage.delete(key, second), undefined, 'a second deletion')
    higher((await storage.put(object('a', 3), undefined))!, third)
    if (versionOf((await storage.list()).resourceVersion) <= versionOf(third))
      throw new Error('the version of the list went back')
  },

  'of concurrent writes to one version, one wins': async ({ storage, object }) => {
    const created = await Promise.all(
      [1, 2, 3, 4].map(variant => storage.put(object('a', variant), undefined)),
    )
    same(created.filter(version => version !== undefined).length, 1, 'creates that succeeded')
    const version = created.find(each => each !== undefined)!
    const changed = await Promise.all([5, 6, 7, 8].map(variant => storage.put(object('a', variant), version)))
    same(changed.filter(each => each !== undefined).length, 1, 'updates that succeeded')
  },

  'a watch delivers every change after a version once, in order': async stage => {
    const { storage, object } = stage
    const first = required(await storage.put(object('a', 1), undefined), 'put')
    const second = required(await storage.put(object('b', 1), undefined), 'put')
    const events = watchFrom(stage, first, 4)
    const third = required(await storage.put(object('a', 2), first), 'put')
    const fourth = required(await storage.delete(keyOf(object('b', 1)), second), 'delete')
    const fifth = required(await storage.put(object('b', 3), undefined), 'put')
    same(
      (await events).map(describe),
      [`PUT b ${second}`, `PUT a ${third}`, `DELETED b ${fourth}`, `PUT b ${fifth}`],
      'the events',
    )
  },

  'a list and a watch from its version miss nothing, under concurrent writes': async stage => {
    const { storage, object } = stage
    const count = 20
    const writes = Array.from({ length: count }, (_, i) => storage.put(object(`o${i}`, i), undefined))
    const { items, resourceVersion } = await storage.list()
    await Promise.all(writes)
    const events = await watchFrom(stage, resourceVersion, count - items.length)
    const names = [...items, ...events.map(event => event.object as ApiObject)].map(
      ({ metadata }) => metadata.name,
    )
    same(
      names.sort(),
      Array.from({ length: count }, (_, i) => `o${i}`).sort(),
      'the objects, listed and watched',
    )
    const versions = events.map(({ object: each }) => versionOf(each.metadata.resourceVersion))
    same(
      versions,
      [...versions].sort((a, b) => a - b),
      'the order of versions',
    )
  },

  'a watch ends when its signal aborts': async ({ storage, patience = defaultPatience }) => {
    const stop = new AbortController()
    const { resourceVersion } = await storage.list()
    const ended = (async () => {
      for await (const event of storage.watch({ resourceVersion, signal: stop.signal }))
        throw new Error(`an event without a change: ${describe(event)}`)
    })()
    stop.abort()
    await within(ended, patience, 'the watch did not end')
  },

  'a watch from a version that is forgotten says that it is expired': async stage => {
    const { storage, object, patience = defaultPatience } = stage
    const { resourceVersion } = await storage.list()
    let version: string | undefined
    const changes = 1_200
    for (let i = 0; i < changes; i++) version = required(await storage.put(object('a', i), version), 'put')
    // A storage may keep all of its history, and deliver it.
    const first = (async () => {
      try {
        for await (const event of storage.watch({ resourceVersion, signal: stage.signal })) return event
      } catch (error) {
        if (!isResourceExpired(error)) throw error
      }
      return undefined
    })()
    const event = await within(first, patience, 'neither an event nor an error')
    if (event && versionOf(event.object.metadata.resourceVersion) !== versionOf(resourceVersion) + 1)
      higher(event.object.metadata.resourceVersion!, resourceVersion)
  },
}

const defaultPatience = 5_000

async function watchFrom(stage: Stage, resourceVersion: string, count: number): Promise<StorageEvent[]> {
  const { storage, signal, patience = defaultPatience } = stage
  const events: StorageEvent[] = []
  const collect = async () => {
    if (count === 0) return events
    for await (const event of storage.watch({ resourceVersion, signal })) {
      events.push(event)
      if (events.length === count) break
    }
    return events
  }
  return await within(
    collect(),
    patience,
    () => `only ${events.map(describe).join(', ') || 'nothing'} was delivered`,
  )
}

async function within<T>(promise: Promise<T>, ms: number, problem: string | (() => string)): Promise<T> {
  const { clock } = createRealEnv()
  const stop = new AbortController()
  const late = clock.sleep(ms, { signal: stop.signal }).then(
    () => {
      throw new Error(`${typeof problem === 'string' ? problem : problem()} within ${ms} ms`)
    },
    () => new Promise<never>(() => {}), // in time
  )
  try {
    return await Promise.race([promise, late])
  } finally {
    stop.abort()
  }
}

const keyOf = ({ metadata: { namespace, name } }: ApiObject): ObjectKey =>
  namespace === undefined ? { name } : { namespace, name }

const describe = ({ type, object }: StorageEvent) =>
  `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`

function plain(object: ApiObject): unknown {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

function versionOf(text: string | undefined): number {
  if (!/^[1-9]\d*$/.test(text ?? '') || !Number.isSafeInteger(Number(text)))
    throw new Error(
      `${JSON.stringify(text)} is not a version: it must be a whole number greater than 0 as text`,
    )
  return Number(text)
}

function higher(version: string, than: string): void {
  if (versionOf(version) <= versionOf(than))
    throw new Error(`the version ${version} is not higher than ${than}, which was before it`)
}

function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} resolved with undefined`)
  return value
}

function same(given: unknown, expected: unknown, what: string): void {
  const [a, b] = [canonical(given), canonical(expected)]
  if (a !== b) throw new Error(`${what}: expected ${b}, but got ${a}`)
}

/** Databases may change the order of members. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
