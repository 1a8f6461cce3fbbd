import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get as httpGet } from 'node:http'
import { describe, it, mock } from 'node:test'
import { serve } from './serve.ts'
import { Turns } from './turns.ts'

function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

const nextTurn = () => new Promise(setImmediate)

describe('turns', () => {
  it('let sockets and timers run under load, one connection after the other', async () => {
    const turns = new Turns()
    const order: string[] = []
    const done = Promise.withResolvers<void>()
    const greedy = {}
    for (let i = 0; i < 20; i++) {
      turns.run(greedy, () => {
        block(6)
        order.push('greedy')
      })
    }
    setTimeout(() => order.push('timer'), 0)
    turns.run({}, () => order.push('polite'))
    turns.run({}, () => order.push('other'))
    turns.run(greedy, () => done.resolve())
    await done.promise
    assert.equal(order.filter(who => who === 'greedy').length, 20)
    for (const who of ['timer', 'polite', 'other']) assert.ok(order.indexOf(who) < 8, `${who}: ${order}`)
  })

  it('begin all that has waited at once when it is little', async () => {
    let now = 0
    const turns = new Turns({ now: () => now, processorTime: () => now })
    turns.run({}, () => {
      now += 100
    })
    await nextTurn() // a long turn is over: work waits
    let begun = 0
    let turn = 0
    const turnsOfWork = new Set<number>()
    for (let i = 0; i < 64; i++) {
      turns.run({ i }, () => {
        begun++
        turnsOfWork.add(turn)
      })
    }
    assert.equal(begun, 0)
    for (; begun < 64; turn++) await nextTurn()
    assert.equal(turnsOfWork.size, 1)
    await nextTurn()
    turns.run({}, () => begun++)
    assert.equal(begun, 65, 'nothing waits any more')
  })

  it('do not keep work waiting because others have made a turn long', async () => {
    let now = 0
    const turns = new Turns({ now: () => now, processorTime: () => now })
    turns.run({}, () => {})
    now += 100 // events to watchers, for instance
    await nextTurn()
    let begun = 0
    turns.run({}, () => begun++)
    assert.equal(begun, 1)
  })

  it('do not keep work waiting because the machine has kept the thread waiting', async () => {
    const clocks = { now: 0, processorTime: 0 }
    const turns = new Turns({ now: () => clocks.now, processorTime: () => clocks.processorTime })
    let begun = 0
    const work = () => {
      begun++
      clocks.now += 30
      clocks.processorTime += 2
    }
    for (let i = 1; i <= 5; i++) {
      turns.run({}, work)
      assert.equal(begun, i)
    }
    turns.run({}, work)
    assert.equal(begun, 5, 'ten milliseconds of processor time are a long turn')
    while (begun < 6) await nextTurn()
  })

  it('ask for the processor time seldom', async () => {
    let now = 0
    let asked = 0
    const turns = new Turns({ now: () => now, processorTime: () => asked++ * 0 })
    for (let i = 0; i < 1000; i++) turns.run({}, () => (now += 0.1))
    await nextTurn()
    assert.ok(asked <= 15, `${asked} times in 100 ms`)
  })

  it('cost no immediate while there is little work', async () => {
    let now = 0
    const turns = new Turns({ now: () => now, processorTime: () => now })
    const immediates = mock.method(globalThis, 'setImmediate')
    try {
      for (let i = 0; i < 9; i++) turns.run({}, () => (now += 0.1))
      assert.equal(immediates.mock.callCount(), 0)
      for (let i = 0; i < 9; i++) turns.run({}, () => (now += 0.1))
      assert.equal(immediates.mock.callCount(), 1)
    } finally {
      immediates.mock.restore()
    }
    await nextTurn()
  })

  it('cost few immediates when little work comes slowly', async () => {
    let now = 0
    const turns = new Turns({ now: () => now, processorTime: () => now / 20 })
    const immediates = mock.method(globalThis, 'setImmediate')
    try {
      for (let i = 0; i < 40; i++) {
        turns.run({}, () => (now += 0.02))
        now += 1
        await new Promise(resolve => setTimeout(resolve))
      }
      assert.ok(immediates.mock.callCount() <= 8, `${immediates.mock.callCount()} immediates`)
    } finally {
      immediates.mock.restore()
    }
    await nextTurn()
  })

  it('do not keep urgent requests waiting', async () => {
    await using server = await serve({
      isUrgent: path => path === '/livez',
      handler: async ({ path }) => {
        if (path !== '/livez') block(20)
        return { status: 200, headers: {} }
      },
    })
    const get = async (path: string) => {
      const [answer] = await once(httpGet(server.url + path, { agent: false }), 'response')
      answer.resume()
    }
    let answered = 0
    const many = Array.from({ length: 60 }, () => get('/list').then(() => answered++))
    await Promise.any(many)
    await get('/livez')
    assert.ok(answered < 30, `${answered} others were answered first`)
    await Promise.all(many)
  })
})
