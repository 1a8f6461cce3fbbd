import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { Event, Pod } from '@coxswain/api/core/v1'
import { toCustomResourceDefinition } from '@coxswain/apimachinery'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { At } from './operator.ts'

const key = { namespace: 'default', name: 'cnrex' }

/** The whole voyage on a clock of its own; returns everything that was handed over, in order. */
async function sail(seed: number, delay: number): Promise<readonly string[]> {
  const log: string[] = []
  const world = new VirtualWorld({ seed, onStep: ({ time, label }) => log.push(`${time} ${label}`) })
  await using cluster = await startCluster({ env: world, nodes: 1 })
  const { client, run } = cluster
  await run(client.create(CustomResourceDefinition, toCustomResourceDefinition(At)))
  cluster.start(operator)
  await cluster.settle()

  const schedule = new Date(world.clock.now() + delay).toISOString()
  const containers = [{ name: 'shell', image: 'busybox', command: ['echo', 'Kubernetes native rocks!'] }]
  await run(client.create(At.v1alpha1, { metadata: key, spec: { schedule, containers } }))
  const seen: (string | undefined)[] = []
  const look = async () => {
    const phase = (await run(client.get(At.v1alpha1, key)))?.status?.phase
    if (seen.at(-1) !== phase) seen.push(phase)
  }
  for (let i = 0; i < 100 && seen.at(-1) !== 'DONE'; i++) {
    await cluster.advance(100)
    await look()
  }
  assert.deepEqual(seen, ['PENDING', 'RUNNING', 'DONE'])

  const podKey = { namespace: 'default', name: 'cnrex-pod' }
  const pod = await run(client.get(Pod, podKey))
  assert.equal(pod?.status?.phase, 'Succeeded')
  assert.equal(pod.metadata.ownerReferences?.[0]?.kind, 'At')
  const events = await run(client.list(Event, { namespace: 'default' }))
  const reasons = events.items
    .filter(({ involvedObject }) => involvedObject.kind === 'At')
    .map(({ reason }) => reason)
  assert.deepEqual(reasons.sort(), ['Finished', 'Scheduled', 'Started'])

  await run(client.delete(At.v1alpha1, key))
  await cluster.advance(10_000)
  assert.equal(await run(client.get(Pod, podKey)), undefined, 'the pod goes with its owner')
  return log
}

describe('the at operator', () => {
  it('runs the pod when it is due, follows it to its end, and takes it along when it goes', async () => {
    await sail(1, 1_500)
  })

  it('gives the same event log from the same seed, and another one from another seed', async () => {
    const first = await sail(7, 500)
    assert.deepEqual(await sail(7, 500), first)
    assert.notDeepEqual(await sail(8, 500), first)
    assert.ok(first.length > 100)
  })

  it('starts nothing before its time', async () => {
    const world = new VirtualWorld()
    await using cluster = await startCluster({ env: world })
    const { client, run } = cluster
    await run(client.create(CustomResourceDefinition, toCustomResourceDefinition(At)))
    cluster.start(operator)
    const schedule = new Date(world.clock.now() + 3_600_000).toISOString()
    await run(
      client.create(At.v1alpha1, {
        metadata: key,
        spec: { schedule, containers: [{ name: 'a', image: 'busybox' }] },
      }),
    )
    await cluster.advance(3_599_000)
    assert.equal((await run(client.list(Pod, { namespace: 'default' }))).items.length, 0)
    await cluster.advance(2_000)
    assert.equal((await run(client.list(Pod, { namespace: 'default' }))).items.length, 1)
  })

  it('ships the definition that its kind gives', () => {
    const shipped = readYaml(readFileSync(new URL('./crd.yaml', import.meta.url)))
    assert.deepEqual(shipped?.value, JSON.parse(JSON.stringify(toCustomResourceDefinition(At))))
  })
})
