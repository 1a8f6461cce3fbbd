import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aborted, VirtualWorld } from '@coxswain/kit'
import type { WireRequest } from '@coxswain/wire'
import { isClientError } from './errors.ts'
import { type DynamicObject, kindFor } from './kind-for.ts'
import { failure, json, startScripted, stream } from './test-support/scripted-server.ts'
import { waitFor } from './wait-for.ts'

const Pod = kindFor({ version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true })
const target = { kind: Pod, key: { namespace: 'ns', name: 'a' } }
const pod = (phase: string) => ({ metadata: { name: 'a' }, status: { phase } })
const list = (...items: unknown[]) => json({ metadata: { resourceVersion: '5' }, items })
const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`
const isRunning = (object: DynamicObject | undefined) =>
  (object?.status as { phase: string } | undefined)?.phase === 'Running'

describe('waitFor', () => {
  it('looks, then watches from there until the condition holds', async () => {
    const world = new VirtualWorld()
    await using server = startScripted(
      [list(pod('Pending')), stream(event('MODIFIED', pod('Running')), event('DELETED', pod('Running')))],
      {},
      world,
    )
    const found = await world.run(waitFor(server.client, world, target, isRunning))
    assert.ok(isRunning(found))
    assert.deepEqual(server.calls(), [
      'GET /api/v1/namespaces/ns/pods?fieldSelector=metadata.name=a',
      'GET /api/v1/namespaces/ns/pods?watch=true&fieldSelector=metadata.name=a&allowWatchBookmarks=true&resourceVersion=5',
    ])
  })

  it('waits for the deletion of an object', async () => {
    const world = new VirtualWorld()
    await using server = startScripted(
      [list(pod('Running')), stream(event('DELETED', pod('Running')))],
      {},
      world,
    )
    assert.equal(
      await world.run(waitFor(server.client, world, target, object => object === undefined)),
      undefined,
    )
  })

  it('begins anew when the watch ends, expires or breaks', async () => {
    const world = new VirtualWorld()
    const gone = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 }
    await using server = startScripted(
      [
        list(),
        stream(),
        list(),
        stream(event('ERROR', gone)),
        list(),
        stream('{"type":'),
        failure(500, 'InternalError'),
        list(pod('Running')),
      ],
      {},
      world,
    )
    assert.ok(isRunning(await world.run(waitFor(server.client, world, target, isRunning))))
  })

  it('gives up in time, and leaves nothing behind', async () => {
    const world = new VirtualWorld()
    const quiet = async ({ signal }: WireRequest) => {
      async function* body() {
        await aborted(signal)
        yield* []
      }
      return { status: 200, headers: {}, body: body() }
    }
    const server = startScripted([list(), quiet], {}, world)
    const start = world.clock.now()
    await assert.rejects(
      world.run(waitFor(server.client, world, target, isRunning, { timeout: 5000 })),
      error => isClientError(error, 'WaitTimeout'),
    )
    assert.equal(world.clock.now() - start, 5000)
    await world.run(Promise.resolve(server[Symbol.asyncDispose]()))
    assert.equal(world.nextTimer, undefined)
  })

  it('throws what waiting cannot mend', async () => {
    const world = new VirtualWorld()
    await using server = startScripted([failure(403, 'Forbidden')], {}, world)
    await assert.rejects(world.run(waitFor(server.client, world, target, isRunning)))
    assert.equal(server.calls().length, 1)
  })
})
