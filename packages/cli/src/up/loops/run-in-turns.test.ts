import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createApiServer } from '@coxswain/apiserver'
import { createClient } from '@coxswain/client'
import { aborted, TaskGroup, VirtualWorld } from '@coxswain/kit'
import { defineOperator } from '@coxswain/runtime'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport, type Transport } from '@coxswain/wire'
import { runInTurns } from './run-in-turns.ts'

const peer = { commonName: 'tester', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const leaderElection = { namespace: 'kube-system', name: 'turns' }

/** Control loops of two servers on one store, and the network between one of them and the store. */
async function start(group: TaskGroup, world: VirtualWorld) {
  const server = createApiServer({ env: world, store: createMemoryStore({ env: world }) })
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const running = new Set<string>()
  const broken = new Set<string>()
  const open = (name: string): Transport => {
    const inner = createInProcessTransport(server.handler, world, { peer })
    return {
      send: async request => {
        if (broken.has(name)) throw new Error('the network is down')
        return await inner.send(request)
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
  }
  const run = (name: string): AbortController => {
    const stop = new AbortController()
    const operator = defineOperator('turns', builder => {
      builder.task('work', async ({ signal }) => {
        running.add(name)
        await aborted(signal)
        running.delete(name)
      })
    })
    const client = createClient({ env: world, transport: open(name) })
    group.spawn(() => runInTurns(operator, { client, env: world, signal: stop.signal, leaderElection }))
    return stop
  }
  return { run, running, broken }
}

describe('control loops that take turns', () => {
  it('run in one server at a time, and again in one that has lost its lease when it leads again', async () => {
    const world = new VirtualWorld({ seed: 1 })
    await using group = new TaskGroup()
    const { run, running, broken } = await start(group, world)
    const first = run('first')
    await world.advance(50)
    assert.deepEqual([...running], ['first'], 'a new lease is acquired at once')
    const second = run('second')
    await world.advance(60_000)
    assert.deepEqual([...running], ['first'])

    broken.add('first')
    await world.advance(30_000)
    assert.deepEqual([...running], ['second'])

    broken.delete('first')
    await world.advance(60_000)
    assert.deepEqual([...running], ['second'], 'it waits, and takes nothing that is held')
    second.abort()
    await world.advance(10_000)
    assert.deepEqual([...running], ['first'])
    first.abort()
    group.abort()
    await world.advance(60_000)
  })
})
