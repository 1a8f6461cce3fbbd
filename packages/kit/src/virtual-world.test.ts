import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { createLogger } from './logger.ts'
import { AsyncQueue } from './queue.ts'
import { TaskGroup } from './task-group.ts'
import { type StepRecord, VirtualWorld, type VirtualWorldOptions } from './virtual-world.ts'

/** A busy little world: streams, timers, random waits and lone steps that all compete. Gives its log as text. */
async function runVoyage(seed: number): Promise<string> {
  const lines: string[] = []
  const world = new VirtualWorld({
    seed,
    onStep: ({ time, label }) => lines.push(`${time} ${label}`),
    log: clock =>
      createLogger(({ message, fields }) =>
        lines.push(`${clock.now()} ${message} ${JSON.stringify(fields)}`),
      ),
  })
  const group = new TaskGroup()
  for (const name of ['a', 'b', 'c']) {
    const lane = world.scheduler.lane(`stream ${name}`)
    group.spawn(async () => {
      for (let i = 0; i < 20; i++) {
        await lane.step()
        world.log.info('sent', { name, i, id: world.random.uuid() })
        if (i % 5 === 0) await world.clock.sleep(world.random.below(100))
        await world.scheduler.step(`reply ${name}`)
      }
    })
  }
  await world.run(group.join())
  return lines.join('\n')
}

const collect = (options: VirtualWorldOptions = {}) => {
  const records: StepRecord[] = []
  const world = new VirtualWorld({ ...options, onStep: record => records.push(record) })
  return { world, labels: () => records.map(record => record.label) }
}

describe('a virtual world', () => {
  it('gives a byte-identical log when run twice from one seed', async () => {
    for (const seed of [1, 2, 12345678901]) assert.equal(await runVoyage(seed), await runVoyage(seed))
  })

  it('gives a different log for every seed', async () => {
    const logs = await Promise.all(Array.from({ length: 20 }, (_, seed) => runVoyage(seed)))
    assert.equal(new Set(logs).size, logs.length)
  })

  it('is not disturbed by real time passing or by other worlds in the process', async () => {
    const alone = await runVoyage(7)
    const [first, second] = await Promise.all([runVoyage(7), runVoyage(7), runVoyage(8)])
    assert.equal(first, alone)
    assert.equal(second, alone)
  })

  it('takes steps that wait together in every order, depending on the seed', async () => {
    const orders = new Set<string>()
    for (let seed = 0; seed < 100; seed++) {
      const { world, labels } = collect({ seed })
      for (const label of ['x', 'y', 'z']) void world.scheduler.step(label)
      await world.settle()
      orders.add(labels().join(''))
    }
    assert.equal(orders.size, 6)
  })

  it('drains all promise work between two steps', async () => {
    const world = new VirtualWorld()
    const events: string[] = []
    const follow = async (name: string) => {
      await world.scheduler.step(name)
      for (let i = 0; i < 50; i++) await undefined
      events.push(name)
    }
    void follow('x')
    void follow('y')
    await world.settle()
    assert.deepEqual(events.sort(), ['x', 'y'])
    const { world: second, labels } = collect()
    const seen: number[] = []
    for (const name of ['x', 'y']) {
      void second.scheduler.step(name).then(async () => {
        for (let i = 0; i < 50; i++) await undefined
        seen.push(labels().length)
      })
    }
    await second.settle()
    assert.deepEqual(seen, [1, 2], 'the work behind the first step ended before the second was taken')
  })

  it('lends its own clock to the logger and stamps steps with it', async () => {
    const times: number[] = []
    const world = new VirtualWorld({
      start: 1_000,
      log: clock => createLogger(() => times.push(clock.now())),
      onStep: ({ time }) => times.push(time),
    })
    world.clock.after(5, () => world.log.info('now'))
    await world.advance(10)
    assert.deepEqual(times, [1_005, 1_005])
  })

  it('rejects being driven twice at once', async () => {
    const world = new VirtualWorld()
    const first = world.settle()
    await assert.rejects(world.settle(), /already being driven/)
    await first
    await world.settle()
  })

  it('reports endless steps at one instant as a live-lock', async () => {
    const world = new VirtualWorld({ stepLimit: 1_000 })
    const lane = world.scheduler.lane('spin')
    let on = true
    const spin = () => on && lane.post(spin)
    spin()
    await assert.rejects(world.settle(), /live-lock/)
    on = false
  })
})

describe('lanes of a virtual world', () => {
  it('keep their order under every seed, and interleave with each other', async () => {
    const interleavings = new Set<string>()
    for (let seed = 0; seed < 50; seed++) {
      const world = new VirtualWorld({ seed })
      const seen: string[] = []
      for (const name of ['a', 'b']) {
        const lane = world.scheduler.lane(name)
        for (let i = 0; i < 4; i++) lane.post(() => seen.push(`${name}${i}`))
      }
      await world.settle()
      for (const name of ['a', 'b']) {
        assert.deepEqual(
          seen.filter(entry => entry.startsWith(name)),
          [0, 1, 2, 3].map(i => `${name}${i}`),
        )
      }
      interleavings.add(seen.join())
    }
    assert.ok(interleavings.size > 10, `only ${interleavings.size} interleavings`)
  })

  it('keep the order of steps and posts among themselves', async () => {
    const world = new VirtualWorld({ seed: 3 })
    const lane = world.scheduler.lane('mixed')
    const seen: number[] = []
    lane.post(() => seen.push(0))
    void lane.step().then(() => seen.push(1))
    lane.post(() => seen.push(2))
    await world.settle()
    assert.deepEqual(seen, [0, 1, 2])
  })

  it('are taken as often each, whatever the number that waits in one', async () => {
    const world = new VirtualWorld({ seed: 5 })
    const long = world.scheduler.lane('long')
    let before = 0
    let done = false
    for (let i = 0; i < 1_000; i++) long.post(() => (before += done ? 0 : 1))
    world.scheduler.lane('short').post(() => (done = true))
    await world.settle()
    assert.ok(before < 100, `a lane with one hand-off waited for ${before} of another`)
  })
})

describe('timers of a virtual world', () => {
  it('run in the order of their time and then of their creation, under every seed', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const world = new VirtualWorld({ seed })
      const seen: string[] = []
      world.clock.after(20, () => seen.push('late'))
      world.clock.after(10, () => seen.push('first'))
      world.clock.after(10, () => seen.push('second'))
      world.clock.after(-5, () => seen.push('at once'))
      await world.advance(15)
      assert.deepEqual(seen, ['at once', 'first', 'second'])
      await world.advance(5)
      assert.deepEqual(seen, ['at once', 'first', 'second', 'late'])
    }
  })

  it('compete with hand-offs of the same instant by seed', async () => {
    const orders = new Set<string>()
    for (let seed = 0; seed < 20; seed++) {
      const { world, labels } = collect({ seed })
      world.clock.after(0, () => {})
      void world.scheduler.step('step')
      await world.settle()
      orders.add(labels().join())
    }
    assert.deepEqual([...orders].sort(), ['step,timer', 'timer,step'])
  })

  it('do not starve hand-offs when they are set again and again for the same instant', async () => {
    const world = new VirtualWorld()
    let done = false
    const poll = async () => {
      while (!done) await world.clock.sleep(0)
    }
    const polling = poll()
    void world.scheduler.step('flag').then(() => {
      done = true
    })
    await world.run(polling)
  })

  it('never run before they are due, and see the clock at their time', async () => {
    const world = new VirtualWorld({ start: 0 })
    const seen: number[] = []
    for (const ms of [3, 1, 2.5, 100]) world.clock.after(ms, () => seen.push(world.clock.monotonic()))
    await world.advance(50)
    assert.deepEqual(seen, [1, 2.5, 3])
    assert.equal(world.clock.now(), 50)
  })

  it('run no more once cancelled, and cancelling again does nothing', async () => {
    const world = new VirtualWorld()
    const seen: string[] = []
    const cancelled = world.clock.after(1, () => seen.push('cancelled'))
    const kept = world.clock.after(1, () => seen.push('kept'))
    cancelled.cancel()
    cancelled.cancel()
    await world.advance(5)
    kept.cancel()
    assert.deepEqual(seen, ['kept'])
    assert.equal(world.nextTimer, undefined)
  })

  it('stay in order when many are set and cancelled at random', async () => {
    const world = new VirtualWorld({ seed: 11 })
    const taken: string[] = []
    const timers = Array.from({ length: 2_000 }, (_, order) => {
      const at = world.random.below(500)
      return { at, order, timer: world.clock.after(at, () => taken.push(`${at}/${order}`)) }
    })
    const kept = timers.filter(() => world.random.below(3) > 0)
    for (const { timer } of timers.filter(each => !kept.includes(each))) timer.cancel()
    await world.advance(500)
    const expected = kept.sort((a, b) => a.at - b.at || a.order - b.order)
    assert.deepEqual(
      taken,
      expected.map(({ at, order }) => `${at}/${order}`),
    )
  })

  it('that are set by a timer run in the same advance when they are due', async () => {
    const world = new VirtualWorld()
    let ticks = 0
    const tick = () => {
      ticks++
      world.clock.after(10, tick)
    }
    world.clock.after(10, tick)
    await world.advance(100)
    assert.equal(ticks, 10)
  })

  it('for a time that never comes keep no world alive, and those for NaN are rejected', async () => {
    const world = new VirtualWorld()
    world.clock.after(Number.POSITIVE_INFINITY, () => {}).cancel()
    const sleep = world.clock.sleep(Number.POSITIVE_INFINITY)
    assert.equal(world.nextTimer, undefined)
    await assert.rejects(world.run(sleep, Number.POSITIVE_INFINITY), /nothing is left to run/)
    assert.throws(() => world.clock.after(Number.NaN, () => {}), RangeError)
  })

  it('pass what they throw to the caller that drives the world', async () => {
    const world = new VirtualWorld()
    world.clock.after(1, () => {
      throw new Error('broken callback')
    })
    await assert.rejects(world.advance(2), /broken callback/)
    await world.advance(1)
  })

  it('let a sleep be aborted, which leaves no timer behind', async () => {
    const world = new VirtualWorld()
    const controller = new AbortController()
    const sleep = world.clock.sleep(1_000, { signal: controller.signal })
    assert.equal(world.nextTimer, 1_000)
    controller.abort(new Error('enough'))
    await assert.rejects(sleep, /enough/)
    assert.equal(world.nextTimer, undefined)
    await assert.rejects(world.clock.sleep(1, { signal: controller.signal }), /enough/)
    assert.equal(world.nextTimer, undefined)
  })
})

describe('driving a virtual world', () => {
  it('knows when nothing is left to do now, and when the next timer is due', async () => {
    const world = new VirtualWorld()
    assert.equal(world.idle, true)
    assert.equal(world.nextTimer, undefined)
    void world.scheduler.step('one')
    assert.equal(world.idle, false)
    await world.settle()
    assert.equal(world.idle, true)
    world.clock.after(30, () => {})
    assert.equal(world.idle, true, 'a timer in the future is not work')
    await world.advance(10)
    assert.equal(world.nextTimer, 20)
    world.clock.after(0, () => {})
    assert.equal(world.idle, false)
    await world.advance(20)
    assert.equal(world.nextTimer, undefined)
  })

  it('settles without moving the clock', async () => {
    const world = new VirtualWorld({ start: 42 })
    let ran = false
    world.clock.after(1, () => {
      ran = true
    })
    await world.settle()
    assert.equal(ran, false)
    assert.equal(world.clock.now(), 42)
  })

  it('runs until a condition holds and stops the clock there', async () => {
    const world = new VirtualWorld({ start: 0 })
    let ticks = 0
    const tick = () => {
      ticks++
      world.clock.after(60_000, tick)
    }
    world.clock.after(60_000, tick)
    await world.runUntil(() => ticks === 3)
    assert.equal(world.clock.now(), 180_000)
    await world.runUntil(() => true)
    assert.equal(world.clock.now(), 180_000)
  })

  it('throws if the condition does not hold in time, or nothing is left that could fulfil it', async () => {
    const world = new VirtualWorld()
    await assert.rejects(
      world.runUntil(() => false),
      /after 0 ms of virtual time, and nothing is left to run/,
    )
    world.clock.after(50, () => world.clock.after(100, () => {}))
    await assert.rejects(
      world.runUntil(() => false, 100),
      /after 50 ms of virtual time, within 100 ms/,
    )
  })

  it('runs a promise to its end, through steps and time', async () => {
    const world = new VirtualWorld({ start: 0 })
    const work = async () => {
      await world.clock.sleep(5_000)
      await world.scheduler.step('hand-off')
      return 'done'
    }
    assert.equal(await world.run(work()), 'done')
    assert.equal(world.clock.now(), 5_000)
    await assert.rejects(world.run(Promise.reject(new Error('no'))), /no/)
    await assert.rejects(world.run(new Promise(() => {})), /nothing is left to run/)
  })

  it('gives up on a promise that only a periodic timer outlives', async () => {
    const world = new VirtualWorld()
    const tick = () => void world.clock.after(1_000, tick)
    tick()
    await assert.rejects(world.run(new Promise(() => {}), 10_000), /within 10000 ms/)
  })

  it('carries a stream between two parts to its end', async () => {
    const world = new VirtualWorld({ seed: 2 })
    const queue = new AsyncQueue<number>()
    const lane = world.scheduler.lane('stream')
    for (let i = 0; i < 5; i++) lane.post(() => queue.push(i))
    lane.post(() => queue.end())
    assert.deepEqual(await world.run(Array.fromAsync(queue)), [0, 1, 2, 3, 4])
  })
})

describe('a world that is not driven', () => {
  const program = (body: string) => `
    import { VirtualWorld } from '${new URL('./virtual-world.ts', import.meta.url)}'
    const world = new VirtualWorld()
    ${body}`
  const run = (body: string) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', program(body)], { encoding: 'utf8' }).stderr

  it('reports what waits in it and what to call, when nothing else is left to run', () => {
    const stderr = run("await world.scheduler.step('request GET /version')")
    assert.match(
      stderr,
      /A VirtualWorld waits to be driven: .*request GET \/version.*cluster\.run\(promise\)/,
    )
  })

  it('reports nothing once it has been driven, whatever is left in it', () => {
    assert.equal(
      run(
        "const step = world.scheduler.step('a'); world.clock.after(1_000, () => {}); await world.run(step)",
      ),
      '',
    )
  })
})
