import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Lease } from '@coxswain/api/coordination/v1'
import { ConfigMap } from '@coxswain/api/core/v1'
import { createRealEnv } from '@coxswain/kit'
import { type Launched, launch, type Running } from '../test-support/commands.ts'

const runtime = import.meta.resolve('@coxswain/runtime')
const core = import.meta.resolve('@coxswain/api/core/v1')
const { clock } = createRealEnv()

/** Writes who it is into the ConfigMap `heartbeat`, ten times a second. */
const heartbeat = `
import { ConfigMap } from '${core}'
import { defineOperator, requeueAfter } from '${runtime}'
export default defineOperator('heart', operator => {
  operator.controller('beat').for(ConfigMap).reconcile(async ({ key, client }) => {
    if (key.name !== 'heartbeat') return
    const found = await client.get(ConfigMap, key, { cached: false })
    if (!found) return
    const beats = String(Number(found.data?.beats ?? 0) + 1)
    await client.update(ConfigMap, { ...found, data: { writer: String(process.pid), beats } })
    return requeueAfter(100)
  })
})
`

const periods = ['lease-duration=3s', 'renew-deadline=2s', 'retry-period=500ms'].map(
  each => `--leader-election-${each}`,
)

const key = { namespace: 'default', name: 'heartbeat' }

async function writerOf({ client }: Launched): Promise<string | undefined> {
  return (await client.get(ConfigMap, key))?.data?.writer
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    if (await holds()) return
    await clock.sleep(50)
  }
  assert.fail(`never: ${what}`)
}

describe('two replicas of an operator', () => {
  it('have one lease: when the leader is killed the other takes over, and one that was paused writes nothing', async () => {
    await using cluster = await launch('--storage', 'memory')
    await cluster.client.create(ConfigMap, { metadata: key })
    const file = cluster.file('heart.mjs', heartbeat)
    const replica = (): Running => cluster.run('--leader-elect', ...periods, file)
    const isWriter = (running: Running) => async () => (await writerOf(cluster)) === String(running.pid)

    await using first = replica()
    await until('the first writes', isWriter(first))
    await using second = replica()
    await second.prints(/running heart/)
    const leases = await cluster.client.list(Lease, { namespace: 'default' })
    assert.deepEqual(
      leases.items.map(({ metadata }) => metadata.name),
      ['heart'],
    )

    first.kill('SIGKILL')
    const killed = clock.monotonic()
    await until('the second writes', isWriter(second))
    assert.ok(clock.monotonic() - killed > 1_000, 'not before the lease could have expired')

    // A zombie: it is paused beyond its lease, and wakes up while another leads.
    await using third = replica()
    await third.prints(/running heart/)
    second.kill('SIGSTOP')
    await until('the third writes', isWriter(third))
    const writers: (string | undefined)[] = []
    const watching = new AbortController()
    const watched = (async () => {
      for await (const event of cluster.client.watch(ConfigMap, {
        namespace: key.namespace,
        signal: watching.signal,
      })) {
        if (event.type === 'MODIFIED' && event.object.metadata.name === key.name)
          writers.push((event.object as { data?: { writer?: string } }).data?.writer)
      }
    })().catch(() => {})
    second.kill('SIGCONT')
    assert.equal(await second.exited, 1)
    assert.match(second.output().stderr, /^coxswain: leader election lost$/m)
    await until('the third continues', async () => writers.length > 5)
    watching.abort()
    await watched
    assert.deepEqual([...new Set(writers)], [String(third.pid)])

    assert.equal(await third.stop(), 0)
    const lease = await cluster.client.get(Lease, { namespace: 'default', name: 'heart' })
    assert.equal(lease?.spec?.holderIdentity ?? '', '', 'it was released')
  })
})
