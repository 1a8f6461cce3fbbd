import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Lease } from '@coxswain/api/coordination/v1'
import { ConfigMap } from '@coxswain/api/core/v1'
import type { Client } from '@coxswain/client'
import { createRealEnv } from '@coxswain/kit'
import { type Running, scratch, start } from '../test-support/commands.ts'

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

/** A server, and a namespace in it for the objects of the test. */
export interface ReplicasServer extends AsyncDisposable {
  readonly client: Client
  readonly kubeconfig: string
  readonly namespace: string
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    if (await holds()) return
    await clock.sleep(50)
  }
  assert.fail(`never: ${what}`)
}

/** Two replicas of `coxswain run --leader-elect`, on whatever serves the Kubernetes API. */
export function testReplicas(connect: () => Promise<ReplicasServer>): void {
  it('have one lease: when the leader is killed the other takes over, and one that was paused writes nothing', async () => {
    await using server = await connect()
    using folder = scratch()
    const { client, kubeconfig, namespace } = server
    const key = { namespace, name: 'heartbeat' }
    await client.create(ConfigMap, { metadata: key })
    const file = folder.file('heart.mjs', heartbeat)
    const run = ['run', '--kubeconfig', kubeconfig, '--namespaces', namespace, '--leader-elect']
    const replica = (): Running => start(...run, '--leader-election-namespace', namespace, ...periods, file)
    const isWriter = (running: Running) => async () =>
      (await client.get(ConfigMap, key))?.data?.writer === String(running.pid)

    await using first = replica()
    await until('the first writes', isWriter(first))
    await using second = replica()
    await second.prints(/running heart/)
    const leases = await client.list(Lease, { namespace })
    assert.deepEqual(
      leases.items.map(({ metadata }) => metadata.name),
      ['heart'],
    )

    first.kill('SIGKILL')
    const killed = clock.monotonic()
    await until('the second writes', isWriter(second))
    assert.ok(clock.monotonic() - killed > 1_000, 'not before the lease could have ended')

    // A zombie: it is paused beyond its lease, and wakes up while another leads.
    await using third = replica()
    await third.prints(/running heart/)
    second.kill('SIGSTOP')
    await until('the third writes', isWriter(third))
    const writers: (string | undefined)[] = []
    const watching = new AbortController()
    const watched = (async () => {
      for await (const event of client.watch(ConfigMap, {
        namespace,
        signal: watching.signal,
      })) {
        if (event.type === 'MODIFIED' && event.object.metadata.name === key.name)
          writers.push((event.object as { data?: { writer?: string } }).data?.writer)
      }
    })().catch(() => {})
    second.kill('SIGCONT')
    assert.equal(await second.exited, 1)
    assert.match(second.output().stderr, /^coxswain: leader election lost$/m)
    await until('the third goes on', async () => writers.length > 5)
    watching.abort()
    await watched
    assert.deepEqual([...new Set(writers)], [String(third.pid)])

    assert.equal(await third.stop(), 0)
    const lease = await client.get(Lease, { namespace, name: 'heart' })
    assert.equal(lease?.spec?.holderIdentity ?? '', '', 'it was released')
  })
}
