import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestServer } from './test-support/token-server.ts'

const events = '/api/v1/namespaces/default/events'
const minute = 60_000

/** Names of the events that are left after an event was created and some time has passed. */
async function leftAfter(minutes: number, eventTtl?: number): Promise<string[]> {
  await using server = await startTestServer({ ...(eventTtl !== undefined && { eventTtl }) })
  const involvedObject = { kind: 'Pod', namespace: 'default', name: 'a' }
  await server.create(events, { metadata: { name: 'a' }, involvedObject })
  await server.world.advance(minutes * minute)
  const { body } = await server.send('GET', events)
  return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
}

describe('events', () => {
  it('are kept for an hour', async () => {
    assert.deepEqual(await leftAfter(59), ['a'])
    assert.deepEqual(await leftAfter(62), [])
  })

  it('are kept as long as the server is asked to', async () => {
    assert.deepEqual(await leftAfter(9, 10 * minute), ['a'])
    assert.deepEqual(await leftAfter(12, 10 * minute), [])
    assert.deepEqual(await leftAfter(119, 120 * minute), ['a'])
  })

  it('never expire with a time of zero', async () => {
    assert.deepEqual(await leftAfter(120, 0), ['a'])
  })
})
