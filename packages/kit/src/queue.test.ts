import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AsyncQueue } from './queue.ts'

describe('an async queue', () => {
  it('hands items over in order, those pushed before and during the iteration', async () => {
    const queue = new AsyncQueue<number>()
    queue.push(1)
    const all = Array.fromAsync(queue)
    await Promise.resolve()
    queue.push(2)
    queue.push(3)
    queue.end()
    assert.deepEqual(await all, [1, 2, 3])
  })

  it('rejects items while it is full', async () => {
    const queue = new AsyncQueue<number>(2)
    assert.deepEqual([queue.push(1), queue.push(2), queue.push(3)], [true, true, false])
    assert.equal(queue.size, 2)
    const iterator = queue[Symbol.asyncIterator]()
    assert.deepEqual(await iterator.next(), { done: false, value: 1 })
    assert.equal(queue.size, 1)
    assert.deepEqual([queue.push(4), queue.push(5)], [true, false])
  })

  it('lets a producer wait until there is capacity, or the consumer has left', async () => {
    const queue = new AsyncQueue<number>()
    await queue.room(1)
    queue.push(1)
    queue.push(2)
    let hasRoom = false
    const waiting = queue.room(2).then(() => {
      hasRoom = true
    })
    await Promise.resolve()
    assert.equal(hasRoom, false)
    const iterator = queue[Symbol.asyncIterator]()
    await iterator.next()
    await waiting
    queue.push(3)
    const last = queue.room(1)
    await iterator.return?.()
    await last
    await queue.room(0)
  })

  it('rejects items after the end', () => {
    const queue = new AsyncQueue<number>()
    queue.end()
    assert.equal(queue.push(1), false)
    assert.equal(queue.ended, true)
    assert.equal(queue.size, 0)
  })

  it('gives what waits before it throws the error it failed with', async () => {
    const queue = new AsyncQueue<number>()
    queue.push(1)
    queue.fail(new Error('broken pipe'))
    queue.end()
    const seen: number[] = []
    await assert.rejects(async () => {
      for await (const item of queue) seen.push(item)
    }, /broken pipe/)
    assert.deepEqual(seen, [1])
  })

  it('throws even an undefined error', async () => {
    const queue = new AsyncQueue<number>()
    queue.fail(undefined)
    await assert.rejects(
      async () => queue.takeAll().then(() => 'no error'),
      error => error === undefined,
    )
  })

  it('gives everything that waits at once, and undefined at the end', async () => {
    const queue = new AsyncQueue<number>()
    queue.push(1)
    queue.push(2)
    assert.deepEqual(await queue.takeAll(), [1, 2])
    const next = queue.takeAll()
    queue.push(3)
    assert.deepEqual(await next, [3])
    queue.end()
    assert.equal(await queue.takeAll(), undefined)
  })

  it('gives only what an iterator has left over', async () => {
    const queue = new AsyncQueue<number>()
    for (const item of [1, 2, 3]) queue.push(item)
    await queue[Symbol.asyncIterator]().next()
    assert.deepEqual(await queue.takeAll(), [2, 3])
    assert.equal(queue.size, 0)
  })

  it('ends and drops what waits when the consumer leaves the loop', async () => {
    const queue = new AsyncQueue<number>()
    queue.push(1)
    queue.push(2)
    for await (const item of queue) {
      assert.equal(item, 1)
      break
    }
    assert.equal(queue.ended, true)
    assert.equal(queue.size, 0)
    assert.equal(queue.push(3), false)
  })

  it('ends when its iterator is returned before it began', async () => {
    const queue = new AsyncQueue<number>()
    await queue[Symbol.asyncIterator]().return?.()
    assert.equal(queue.ended, true)
  })

  it('ends a consumer that waits when its iterator is returned', async () => {
    const queue = new AsyncQueue<number>()
    const iterator = queue[Symbol.asyncIterator]()
    const waiting = iterator.next()
    await iterator.return?.()
    assert.deepEqual(await waiting, { done: true, value: undefined })
  })

  it('rejects a second waiting consumer, instead of losing the first', async () => {
    const queue = new AsyncQueue<number>()
    const first = queue.takeAll()
    await assert.rejects(queue.takeAll(), /one consumer/)
    queue.push(1)
    assert.deepEqual(await first, [1])
  })

  it('keeps order and count when it is never quite empty', async () => {
    const queue = new AsyncQueue<number>()
    const iterator = queue[Symbol.asyncIterator]()
    let pushed = 0
    for (let i = 0; i < 10; i++) queue.push(pushed++)
    for (let taken = 0; taken < 1_000; taken++) {
      assert.deepEqual(await iterator.next(), { done: false, value: taken })
      queue.push(pushed++)
      assert.equal(queue.size, 10)
    }
  })
})
