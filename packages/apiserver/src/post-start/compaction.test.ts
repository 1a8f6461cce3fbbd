import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLogger, TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore, isCompacted } from '@coxswain/storage'
import { compactHistory } from './compaction.ts'

describe('compactHistory', () => {
  it('compacts a revision after five to ten minutes, also without writes', async () => {
    const world = new VirtualWorld()
    const store = createMemoryStore({ env: world })
    const put = (value: string) =>
      world.run(
        store.transact({
          operations: [{ type: 'put', key: '/core/things/a', value: new TextEncoder().encode(value) }],
        }),
      )
    const group = new TaskGroup()
    group.spawn(signal => compactHistory(store, world, signal))
    await world.settle()
    const { revision } = await put('old')
    await put('new')
    const read = () => world.run(store.range('/core/', { revision }))
    await world.advance(5 * 60_000)
    assert.equal((await read()).items.length, 1)
    await world.advance(5 * 60_000)
    await assert.rejects(read(), error => isCompacted(error))
    const before = (await world.run(store.status())).revision
    await world.advance(5 * 60_000)
    assert.ok((await world.run(store.status())).revision > before)
    group.abort()
    await world.run(group.join())
    await world.run(store.close())
  })

  it('continues when the store has compacted more by itself', async () => {
    const said: string[] = []
    const world = new VirtualWorld({ log: () => createLogger(({ message }) => said.push(message)) })
    const store = createMemoryStore({ env: world, history: { revisions: 1, duration: 1_000 } })
    const put = (key: string) =>
      world.run(store.transact({ operations: [{ type: 'put', key, value: new Uint8Array(1) }] }))
    const group = new TaskGroup()
    group.spawn(signal => compactHistory(store, world, signal))
    for (let round = 0; round < 3; round++) {
      await world.advance(4 * 60_000)
      for (const key of ['/core/things/a', '/core/things/b', '/core/things/c']) await put(key)
    }
    const { revision } = await world.run(store.status())
    await world.advance(5 * 60_000)
    assert.equal((await world.run(store.status())).revision, revision + 1, 'the round was a write')
    assert.deepEqual(said, [])
    group.abort()
    await world.run(group.join())
    await world.run(store.close())
  })
})
