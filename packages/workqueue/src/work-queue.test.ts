import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeededRandom, VirtualWorld } from '@coxswain/kit'
import { createExponentialLimiter, type QueueMetrics, WorkQueue, type WorkQueueOptions } from './index.ts'

function setUp(options: Partial<WorkQueueOptions<string>> = {}) {
  const world = new VirtualWorld()
  return { world, queue: new WorkQueue<string>({ clock: world.clock, ...options }) }
}

/** Everything that is ready, in order; each item is finished at once. */
function takeAll(queue: WorkQueue<string>): string[] {
  const items: string[] = []
  for (let item = queue.take(); item !== undefined; item = queue.take()) {
    items.push(item)
    queue.done(item)
  }
  return items
}

describe('a work queue', () => {
  it('hands out an item once however often it was added', () => {
    const { queue } = setUp()
    for (const item of ['a', 'b', 'a', 'a', 'b']) queue.add(item)
    assert.equal(queue.size, 2)
    assert.deepEqual(takeAll(queue), ['a', 'b'])
  })

  it('never hands out an item that is in flight, and hands it out again after done if it was added meanwhile', () => {
    const { queue } = setUp()
    queue.add('a')
    assert.equal(queue.take(), 'a')
    queue.add('a')
    queue.add('a')
    assert.equal(queue.take(), undefined)
    queue.done('a')
    assert.equal(queue.take(), 'a')
    queue.done('a')
    assert.equal(queue.take(), undefined)
  })

  it('ignores done for an item that is not in flight', () => {
    const { queue } = setUp()
    queue.done('a')
    queue.add('a')
    queue.done('a')
    assert.deepEqual(takeAll(queue), ['a'])
  })

  it('wakes the worker that waits longest', async () => {
    const { world, queue } = setUp()
    const got: string[] = []
    for (const worker of ['first', 'second']) queue.get().then(item => got.push(`${worker}:${item}`))
    queue.add('a')
    queue.add('b')
    await world.settle()
    assert.deepEqual(got, ['first:a', 'second:b'])
    assert.equal(queue.inFlight, 2)
  })

  it('gives a worker nothing more once its signal aborts, and the item to the next one', async () => {
    const { world, queue } = setUp()
    const controller = new AbortController()
    const first = queue.get(controller.signal)
    const second = queue.get()
    controller.abort()
    queue.add('a')
    assert.equal(await world.run(first), undefined)
    assert.equal(await world.run(second), 'a')
    assert.equal(await world.run(queue.get(controller.signal)), undefined)
  })

  it('keeps nothing of an item that is done', () => {
    const nothing = (): void => {}
    const metrics: QueueMetrics = {
      added: nothing,
      depthChanged: nothing,
      started: nothing,
      finished: nothing,
      retried: nothing,
    }
    const { queue } = setUp({ metrics })
    queue.add('a')
    takeAll(queue)
    assert.equal(queue.longestWork(), 0)
    assert.equal(queue.size + queue.inFlight + queue.waiting, 0)
  })
})

describe('delays', () => {
  it('makes an item ready when it is due, and not before', async () => {
    const { world, queue } = setUp()
    queue.add('late', { after: 100 })
    queue.add('early', { after: 50 })
    await world.advance(49)
    assert.deepEqual(takeAll(queue), [])
    await world.advance(1)
    assert.deepEqual(takeAll(queue), ['early'])
    await world.advance(50)
    assert.deepEqual(takeAll(queue), ['late'])
    assert.equal(world.nextTimer, undefined)
  })

  it('keeps the shortest delay', async () => {
    const { world, queue } = setUp()
    queue.add('a', { after: 100 })
    queue.add('a', { after: 30 })
    queue.add('a', { after: 60 })
    await world.advance(30)
    assert.deepEqual(takeAll(queue), ['a'])
    await world.advance(1000)
    assert.deepEqual(takeAll(queue), [])
  })

  it('drops the delay if the item is added at once', async () => {
    const { world, queue } = setUp()
    queue.add('a', { after: 100 })
    queue.add('a')
    queue.add('a', { after: 50 })
    assert.deepEqual(takeAll(queue), ['a'])
    await world.advance(1000)
    assert.deepEqual(takeAll(queue), [])
  })

  it('lets an item in flight wait for its next time', async () => {
    const { world, queue } = setUp()
    queue.add('a')
    queue.take()
    queue.add('a', { after: 10 })
    await world.advance(20)
    assert.equal(queue.take(), undefined, 'still in flight')
    queue.done('a')
    assert.equal(queue.take(), 'a')
  })

  it('doubles per item from 5 ms to 1000 s, and starts over after forget', async () => {
    const limiter = createExponentialLimiter<string>()
    const delays = Array.from({ length: 20 }, () => limiter.when('a'))
    assert.deepEqual(delays.slice(0, 4), [5, 10, 20, 40])
    assert.deepEqual(delays.slice(-3), [655_360, 1_000_000, 1_000_000])
    assert.equal(limiter.when('b'), 5)

    const { world, queue } = setUp()
    for (let i = 0; i < 3; i++) {
      queue.addRateLimited('a')
      await world.advance(1000)
      takeAll(queue)
    }
    assert.equal(queue.retries('a'), 3)
    queue.forget('a')
    queue.addRateLimited('a')
    assert.equal(world.nextTimer, 5)
  })
})

describe('order', () => {
  it('is by priority, then by arrival', () => {
    const { queue } = setUp()
    queue.add('low', { priority: -100 })
    queue.add('one')
    queue.add('high', { priority: 10 })
    queue.add('two')
    assert.deepEqual(takeAll(queue), ['high', 'one', 'two', 'low'])
  })

  it('raises a ready item that is added with a higher priority, and never lowers one', () => {
    const { queue } = setUp()
    queue.add('a', { priority: -100 })
    queue.add('b')
    queue.add('a', { priority: 5 })
    queue.add('a', { priority: -100 })
    assert.deepEqual(takeAll(queue), ['a', 'b'])
  })

  it('keeps the highest priority of an item that waits or is in flight', async () => {
    const { world, queue } = setUp()
    queue.add('a', { after: 10, priority: 3 })
    queue.add('a', { after: 20, priority: -100 })
    await world.advance(10)
    queue.add('b', { priority: 2 })
    assert.equal(queue.take(), 'a')
    assert.equal(queue.priorityOf('a'), 3)
    queue.add('a', { priority: 7 })
    queue.add('a')
    queue.done('a')
    assert.equal(queue.take(), 'a')
    assert.equal(queue.priorityOf('a'), 7)
  })

  it('starts from the new priority once an item was handed out', () => {
    const { queue } = setUp()
    queue.add('a', { priority: 9 })
    queue.take()
    queue.add('a', { priority: -100 })
    queue.add('b')
    queue.done('a')
    assert.deepEqual(takeAll(queue), ['b', 'a'])
  })

  it('lets low priority through one time in sixteen', () => {
    const { queue } = setUp()
    queue.add('low', { priority: -100 })
    for (let i = 0; i < 100; i++) queue.add(`high-${i}`)
    assert.equal(takeAll(queue).indexOf('low'), 15)
  })

  it('ignores priority when it is first in, first out', () => {
    const { queue } = setUp({ order: 'fifo' })
    queue.add('a')
    queue.add('b', { priority: 10 })
    queue.add('c')
    queue.add('a', { priority: 20 })
    assert.deepEqual(takeAll(queue), ['a', 'b', 'c'])
  })

  it('gives flows their turns when it is fair', () => {
    const { queue } = setUp({ order: { fairBy: item => item.split('/')[0]! } })
    for (const item of ['a/1', 'a/2', 'a/3', 'b/1', 'c/1', 'b/2']) queue.add(item)
    assert.deepEqual(takeAll(queue), ['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3'])
  })
})

describe('shutting down', () => {
  it('hands out what is ready, drops what waits, accepts nothing, and then notifies the workers', async () => {
    const { world, queue } = setUp()
    queue.add('a')
    queue.add('later', { after: 10 })
    queue.shutDown()
    queue.add('b')
    queue.addRateLimited('c')
    assert.equal(await world.run(queue.get()), 'a')
    assert.equal(await world.run(queue.get()), undefined)
    assert.equal(queue.waiting, 0)
    assert.equal(world.nextTimer, undefined)
  })

  it('wakes workers that wait', async () => {
    const { world, queue } = setUp()
    const worker = queue.get()
    queue.shutDown()
    assert.equal(await world.run(worker), undefined)
  })

  it('drains: it resolves when the last item is done, those added again while in flight included', async () => {
    const { world, queue } = setUp()
    queue.add('a')
    queue.take()
    queue.add('a')
    let drained = false
    const drain = queue.shutDownWithDrain().then(() => {
      drained = true
    })
    await world.settle()
    queue.done('a')
    await world.settle()
    assert.equal(drained, false, 'a is to be processed once more')
    assert.equal(queue.take(), 'a')
    queue.done('a')
    await world.run(drain)
  })

  it('drains at once if it is empty', async () => {
    const { world, queue } = setUp()
    await world.run(queue.shutDownWithDrain())
  })
})

describe('metrics', () => {
  it('counts adds, depth by priority, retries and times', async () => {
    const seen: string[] = []
    const metrics: QueueMetrics = {
      added: priority => seen.push(`added ${priority}`),
      depthChanged: (priority, change) => seen.push(`depth ${priority} ${change}`),
      started: seconds => seen.push(`started after ${seconds}`),
      finished: seconds => seen.push(`finished after ${seconds}`),
      retried: () => seen.push('retried'),
    }
    const { world, queue } = setUp({ metrics })
    queue.add('a', { priority: -100 })
    queue.add('a')
    await world.advance(2000)
    queue.take()
    await world.advance(3000)
    assert.equal(queue.unfinishedWork(), 3)
    assert.equal(queue.longestWork(), 3)
    queue.addRateLimited('a')
    queue.done('a')
    assert.deepEqual(seen, [
      'added -100',
      'depth -100 1',
      'depth -100 -1',
      'depth 0 1',
      'depth 0 -1',
      'started after 2',
      'retried',
      'finished after 3',
    ])
  })
})

describe('under random use', () => {
  it('loses nothing, runs nothing twice at once, and ends empty', async () => {
    for (let seed = 1; seed <= 100; seed++) {
      const random = createSeededRandom(seed)
      const orders = ['fifo', 'priority', { fairBy: (item: string) => item.slice(0, 1) }] as const
      const { world, queue } = setUp({ order: orders[seed % 3]! })
      const asked = new Map<string, number>()
      const begun = new Map<string, number>()
      const busy = new Set<string>()
      for (let step = 0; step < 300; step++) {
        const item = `${'abc'[random.below(3)]}${random.below(4)}`
        const action = random.below(10)
        if (action < 5) {
          asked.set(item, step)
          const after = random.below(2) * random.below(40)
          queue.add(item, { after, priority: random.below(3) })
        } else if (action < 7) {
          const taken = queue.take()
          if (taken !== undefined) {
            assert.ok(!busy.has(taken), `seed ${seed}: ${taken} handed out twice`)
            busy.add(taken)
            begun.set(taken, step)
          }
        } else if (action < 9) {
          const [first] = busy
          if (first !== undefined) {
            busy.delete(first)
            queue.done(first)
          }
        } else await world.advance(random.below(30))
        assert.equal(queue.inFlight, busy.size)
      }
      for (const item of busy) queue.done(item)
      await world.advance(100)
      for (const item of takeAll(queue)) begun.set(item, 1000)
      for (const [item, step] of asked) {
        assert.ok(
          (begun.get(item) ?? -1) >= step,
          `seed ${seed}: ${item} was added at ${step} and never taken`,
        )
      }
      assert.equal(queue.size + queue.inFlight + queue.waiting, 0)
    }
  })
})
