import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isTooManyRequests } from '@coxswain/apimachinery/status'
import { createLogger, createRealEnv, VirtualWorld } from '@coxswain/kit'
import { createInProcessTransport, isTransportError } from '@coxswain/wire'
import { createClient } from './create-client.ts'
import { isClientError } from './errors.ts'
import { createRateLimiter } from './rate-limit.ts'
import type { CallRecord } from './rest-client.ts'
import { retryOnConflict } from './retry-on-conflict.ts'
import { failure, json, startScripted, text } from './test-support/scripted-server.ts'
import { parseWarnings } from './warnings.ts'

const busy = (seconds: string) => {
  const answer = failure(429, 'TooManyRequests')
  return { ...answer, headers: { ...answer.headers, 'retry-after': seconds } }
}

describe('retries', () => {
  it('follow Retry-After, whatever the method', async () => {
    const world = new VirtualWorld()
    const records: CallRecord[] = []
    await using server = startScripted(
      [busy('1'), { ...busy('2'), status: 503 }, json({ ok: true })],
      { onCall: record => records.push(record) },
      world,
    )
    const start = world.clock.now()
    assert.deepEqual(await world.run(server.client.raw.request({ method: 'POST', path: '/x', body: {} })), {
      ok: true,
    })
    assert.equal(world.clock.now() - start, 3000)
    assert.deepEqual(server.calls(), ['POST /x', 'POST /x', 'POST /x'])
    assert.deepEqual(
      records.map(({ method, status, retries, duration }) => [method, status, retries, duration]),
      [['POST', 200, 2, 3000]],
    )
  })

  it('end after ten attempts with the last answer', async () => {
    const world = new VirtualWorld()
    await using server = startScripted([busy('1')], {}, world)
    await assert.rejects(world.run(server.client.raw.request({ path: '/x', timeout: 0 })), isTooManyRequests)
    assert.equal(server.calls().length, 11)
  })

  it('are not made for an error without Retry-After', async () => {
    await using server = startScripted([failure(500, 'InternalError')])
    await assert.rejects(server.client.raw.request({ path: '/x' }))
    assert.equal(server.calls().length, 1)
  })

  it('are made for a read whose connection broke, but not for a write', async () => {
    const world = new VirtualWorld()
    let calls = 0
    const transport = createInProcessTransport(async () => {
      if (++calls % 2 === 1) throw new Error('broken')
      return json({ calls })
    }, world)
    const client = createClient({ transport, env: world })
    assert.deepEqual(await world.run(client.raw.request({ path: '/x' })), { calls: 2 })
    await assert.rejects(world.run(client.raw.request({ path: '/x', method: 'POST' })), error =>
      isTransportError(error, 'ConnectionLost'),
    )
    assert.equal(calls, 3)
  })
})

describe('a call', () => {
  it('ends at its deadline, retries included', async () => {
    const world = new VirtualWorld()
    await using server = startScripted([busy('5')], { timeout: 12_000 }, world)
    const start = world.clock.now()
    await assert.rejects(world.run(server.client.raw.request({ path: '/x' })), error =>
      isClientError(error, 'CallTimeout'),
    )
    assert.equal(world.clock.now() - start, 12_000)
    assert.equal(server.calls().length, 3)
  })

  it('rejects with the reason of its signal, without sending when it had aborted before', async () => {
    await using server = startScripted([json({})])
    const reason = new Error('enough')
    await assert.rejects(
      server.client.raw.request({ path: '/x', signal: AbortSignal.abort(reason) }),
      error => error === reason,
    )
    assert.deepEqual(server.calls(), [])
  })

  it('rejects an answer that is longer than the limit or not JSON', async () => {
    await using server = startScripted([json({ x: 'y'.repeat(100) }), text('<html>')], {
      limits: { answerBytes: 50 },
    })
    await assert.rejects(server.client.raw.request({ path: '/x' }), error =>
      isTransportError(error, 'BadMessage'),
    )
    await assert.rejects(server.client.raw.request({ path: '/x' }), error =>
      isClientError(error, 'BadAnswer'),
    )
  })

  it('returns an empty answer as undefined and bytes unchanged', async () => {
    await using server = startScripted([{ status: 200, headers: {} }, text('ok')])
    assert.equal(await server.client.raw.request({ path: '/x' }), undefined)
    assert.equal(
      new TextDecoder().decode(await server.client.raw.bytes({ path: '/livez', accept: '*/*' })),
      'ok',
    )
  })
})

describe('warnings', () => {
  it('reach the callback, or the log', async () => {
    const warning = '299 - "policy/v1beta1 is deprecated, \\"really\\"" "Sat, 1 Jan 2030"'
    const answer = json({}, 200, { warning: [warning, '299 - "a", 299 kube "b"'] })
    const seen: string[] = []
    await using server = startScripted([answer], { onWarning: ({ text }) => seen.push(text) })
    await server.client.raw.request({ path: '/x' })
    assert.deepEqual(seen, ['policy/v1beta1 is deprecated, "really"', 'a', 'b'])
    const logged: unknown[] = []
    const env = createRealEnv(createLogger(record => logged.push(record.fields.text)))
    await using other = startScripted([answer], {}, env)
    await other.client.raw.request({ path: '/x' })
    assert.deepEqual(logged, seen)
  })

  it('that are malformed are dropped, without taking long', () => {
    assert.deepEqual(parseWarnings({ warning: 'nonsense' }), [])
    assert.deepEqual(parseWarnings({ warning: '299 - "open' }), [])
    const start = process.cpuUsage().user
    parseWarnings({ warning: `299 - "${'\\'.repeat(100_000)}` })
    parseWarnings({ warning: `299 - "${'a" "'.repeat(50_000)}` })
    assert.ok(process.cpuUsage().user - start < 1_000_000)
  })
})

describe('the rate limiter', () => {
  it('admits a burst, then the rate', async () => {
    const world = new VirtualWorld()
    const limiter = createRateLimiter({ qps: 10, burst: 3 }, world.clock)
    const start = world.clock.now()
    const times: number[] = []
    const all = Promise.all(
      Array.from({ length: 6 }, async () => {
        await limiter.wait()
        times.push(world.clock.now() - start)
      }),
    )
    await world.run(all)
    assert.deepEqual(times, [0, 0, 0, 100, 200, 300])
    await world.advance(10_000)
    const later = world.clock.now()
    await world.run(Promise.all([limiter.wait(), limiter.wait(), limiter.wait()]))
    assert.equal(world.clock.now(), later)
  })
})

describe('retryOnConflict', () => {
  it('tries five times, then rejects with the conflict; with other errors at once', async () => {
    const world = new VirtualWorld()
    const { newConflict } = await import('@coxswain/apimachinery/status')
    const conflict = newConflict({ group: '', resource: 'pods' }, 'a', new Error('changed').message)
    let tries = 0
    const change = async () => {
      tries++
      throw conflict
    }
    await assert.rejects(world.run(retryOnConflict(world, change)), error => error === conflict)
    assert.equal(tries, 5)
    tries = 0
    await world.run(
      retryOnConflict(world, async () => {
        if (++tries < 3) throw conflict
      }),
    )
    assert.equal(tries, 3)
    const other = new Error('other')
    await assert.rejects(
      world.run(
        retryOnConflict(world, async () => {
          throw other
        }),
      ),
      error => error === other,
    )
  })
})
