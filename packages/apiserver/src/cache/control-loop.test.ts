import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { ControlLoop } from './control-loop.ts'
import { encodeStored } from './stored-object.ts'
import { WatchCache } from './watch-cache.ts'

const prefix = '/core/things/'

async function withCache(
  body: (world: VirtualWorld, cache: WatchCache, put: (name: string) => Promise<void>) => Promise<void>,
) {
  const world = new VirtualWorld()
  await using store = createMemoryStore({ env: world })
  const cache = new WatchCache({ store, env: world })
  await world.run(
    (async () => {
      await cache.load()
      const stop = new AbortController()
      const running = cache.run(stop.signal).catch(() => {})
      const put = async (name: string) => {
        const value = encodeStored({ metadata: { name } })
        const { revision } = await store.transact({
          conditions: [],
          operations: [{ type: 'put', key: prefix + name, value }],
        })
        await cache.waitFor(revision)
      }
      try {
        await body(world, cache, put)
      } finally {
        stop.abort()
        await running
      }
    })(),
  )
}

describe('a control loop', () => {
  it('begins with the stored objects, then follows changes', async () => {
    await withCache(async (world, cache, put) => {
      await put('first')
      const seen: string[] = []
      const stop = new AbortController()
      const reconcile = async (key: string) => void seen.push(key)
      const running = new ControlLoop(
        { env: world, cache },
        { name: 'test', prefixes: [prefix], reconcile },
      ).run(stop.signal)
      await world.clock.sleep(1)
      await put('second')
      await world.clock.sleep(1)
      stop.abort()
      await running
      assert.deepEqual(seen, ['first', 'second'])
    })
  })

  it('retries a key with back-off until it succeeds, and reconciles others meanwhile', async () => {
    await withCache(async (world, cache, put) => {
      await put('bad')
      await put('good')
      const seen: string[] = []
      const stop = new AbortController()
      const reconcile = async (key: string) => {
        seen.push(`${key} ${world.clock.now() - start}`)
        if (key === 'bad' && seen.filter(text => text.startsWith('bad')).length < 4)
          throw new Error('not yet')
      }
      const start = world.clock.now()
      const running = new ControlLoop(
        { env: world, cache },
        { name: 'test', prefixes: [prefix], reconcile },
      ).run(stop.signal)
      await world.clock.sleep(5_000)
      stop.abort()
      await running
      assert.deepEqual(seen, ['bad 0', 'good 0', 'bad 100', 'bad 300', 'bad 700'])
    })
  })
})
