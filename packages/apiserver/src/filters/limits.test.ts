import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isStatusError, type StatusError } from '@coxswain/apimachinery/status'
import { VirtualWorld } from '@coxswain/kit'
import { parsePath, parseQuery, type WireResponse } from '@coxswain/wire'
import type { RequestContext } from '../request/context.ts'
import type { Filter } from '../request/filter.ts'
import { parseRequestInfo } from '../request/request-info.ts'
import { createInFlightLimit, createTimeout } from './limits.ts'

const ok: WireResponse = { status: 200, headers: {} }

function contextOf(method: string, url: string, groups: readonly string[] = []): RequestContext {
  const [path = '', search = ''] = url.split('?')
  const parsed = parsePath(path)
  const query = parseQuery(search)
  const info = parseRequestInfo(method, path, parsed.segments, query)
  return { info, path: parsed, query, user: { name: 'u', groups }, warnings: [] } as unknown as RequestContext
}

/** Requests that wait inside until they are released. */
function createGate(filter: Filter) {
  const waiting: (() => void)[] = []
  const answers: (number | string)[] = []
  return {
    answers,
    send(method: string, url: string, groups?: readonly string[]): Promise<void> {
      const next = () => new Promise<WireResponse>(resolve => waiting.push(() => resolve(ok)))
      return Promise.resolve()
        .then(() => filter(contextOf(method, url, groups), next))
        .then(
          ({ status }) => void answers.push(status),
          (error: unknown) => void answers.push(isStatusError(error) ? error.reason : String(error)),
        )
    },
    open: () => waiting.splice(0).forEach(release => void release()),
    get inside(): number {
      return waiting.length
    },
  }
}

const pods = '/api/v1/namespaces/a/pods'

describe('createInFlightLimit', () => {
  it('rejects requests over the limit, reads and writes apart, and admits more when one is done', async () => {
    const world = new VirtualWorld()
    const gate = createGate(createInFlightLimit({ readOnly: 2, mutating: 1 }))
    const sent = [
      gate.send('GET', pods),
      gate.send('GET', `${pods}/x`),
      gate.send('GET', pods),
      gate.send('POST', pods),
      gate.send('DELETE', `${pods}/x`),
    ]
    await world.settle()
    assert.deepEqual(gate.answers, ['TooManyRequests', 'TooManyRequests'])
    assert.equal(gate.inside, 3)
    gate.open()
    await Promise.all(sent)
    const again = gate.send('GET', pods)
    await world.settle()
    assert.equal(gate.inside, 1)
    gate.open()
    await again
  })

  it('sets Retry-After on rejected requests', async () => {
    const limit = createInFlightLimit({ readOnly: 0, mutating: 0 })
    const refusal = async () => limit(contextOf('GET', pods), async () => ok)
    await assert.rejects(refusal, (error: StatusError) => {
      assert.equal(error.status.code, 429)
      assert.equal(error.status.details?.retryAfterSeconds, 1)
      return true
    })
  })

  it('counts no watches and always admits administrators', async () => {
    const limit = createInFlightLimit({ readOnly: 0, mutating: 0 })
    for (const url of [`${pods}?watch=1`, '/api/v1/watch/pods', `${pods}/x/log`]) {
      assert.equal((await limit(contextOf('GET', url), async () => ok)).status, 200)
    }
    const admin = contextOf('POST', pods, ['system:masters'])
    assert.equal((await limit(admin, async () => ok)).status, 200)
  })

  it('releases the place of a request that failed', async () => {
    const limit = createInFlightLimit({ readOnly: 1, mutating: 1 })
    await assert.rejects(
      async () => limit(contextOf('GET', pods), () => Promise.reject(new Error('broken'))),
      /broken/,
    )
    assert.equal((await limit(contextOf('GET', pods), async () => ok)).status, 200)
  })
})

describe('createTimeout', () => {
  it('answers 504 after a minute, and leaves no timer behind', async () => {
    const world = new VirtualWorld()
    const gate = createGate(createTimeout(world.clock))
    const sent = gate.send('GET', pods)
    await world.advance(59_000)
    assert.deepEqual(gate.answers, [])
    await world.advance(2_000)
    await sent
    assert.deepEqual(gate.answers, ['Timeout'])
    assert.equal(world.nextTimer, undefined)
  })

  it('does not end watches', async () => {
    const world = new VirtualWorld()
    const gate = createGate(createTimeout(world.clock))
    const sent = gate.send('GET', `${pods}?watch=1`)
    await world.advance(120_000)
    assert.equal(gate.inside, 1)
    gate.open()
    await sent
    assert.deepEqual(gate.answers, [200])
  })

  it('takes a shorter timeout from the client, and rejects an invalid one', async () => {
    const world = new VirtualWorld()
    const gate = createGate(createTimeout(world.clock))
    const sent = [gate.send('GET', `${pods}?timeout=3s`), gate.send('GET', `${pods}?timeout=abc`)]
    await world.settle()
    assert.deepEqual(gate.answers, ['BadRequest'])
    await world.advance(4_000)
    await Promise.all(sent)
    assert.deepEqual(gate.answers, ['BadRequest', 'Timeout'])
  })

  it('passes on a timely response or failure, and releases a stream that comes too late', async () => {
    const world = new VirtualWorld()
    const timeout = createTimeout(world.clock)
    assert.equal((await timeout(contextOf('GET', pods), async () => ok)).status, 200)
    await assert.rejects(
      async () => timeout(contextOf('GET', pods), () => Promise.reject(new Error('broken'))),
      /broken/,
    )
    let released = false
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          released = true
          return { done: true, value: undefined }
        },
      }),
    }
    const late = timeout(contextOf('GET', pods), async () => {
      await world.clock.sleep(90_000)
      return { status: 200, headers: {}, body }
    })
    const refused = assert.rejects(async () => late, /allotted timeout/)
    await world.advance(100_000)
    await refused
    assert.equal(released, true)
  })
})
