import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Pod } from '@coxswain/api/core/v1'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { toCustomResourceDefinition } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { CronTab, PodSet } from './operator.ts'

const key = { namespace: 'default', name: 'example' }

interface Scale {
  readonly spec: { readonly replicas?: number }
  readonly status: { readonly replicas: number; readonly selector?: string }
}

async function launch(seed = 1) {
  const cluster = await startCluster({ env: new VirtualWorld({ seed }) })
  const { client, run } = cluster
  await cluster.install(operator)
  const stop = cluster.start(operator)
  await cluster.advance(1_000)
  return {
    ...cluster,
    stop,
    create: (replicas: number) => run(client.create(PodSet.v1alpha1, { metadata: key, spec: { replicas } })),
    podSet: () => run(client.get(PodSet.v1alpha1, key)),
    pods: async () => (await run(client.list(Pod, { namespace: 'default' }))).items,
    setStatus: async (name: string, status: Partial<NonNullable<Pod['status']>>) => {
      const pod = await run(client.get(Pod, { ...key, name }))
      assert.ok(pod)
      await run(client.updateStatus(Pod, { ...pod, status: { ...pod.status, ...status } }))
    },
    scaleOf: async (kind: typeof PodSet.v1alpha1 | typeof CronTab.v1) => {
      const scale = await run(client.subresource(kind, key, 'scale').get<Scale>())
      assert.ok(scale)
      return scale
    },
    scale: (kind: typeof PodSet.v1alpha1 | typeof CronTab.v1, replicas: number) =>
      run(client.patch(kind, key, { spec: { replicas } }, { type: 'merge', subresource: 'scale' })),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

describe('a PodSet', () => {
  it('creates as many Pods as its spec says, and reports which', async () => {
    await using cluster = await launch()
    await cluster.create(5)
    await cluster.advance(1_000)
    const pods = await cluster.pods()
    assert.equal(pods.length, 5)
    const { status } = (await cluster.podSet())!
    assert.deepEqual(status, {
      replicas: 5,
      readyReplicas: 0,
      podNames: pods.map(({ metadata }) => metadata.name).sort(),
      selector: 'podset=example',
    })
  })

  it('follows kubectl scale in both directions', async () => {
    await using cluster = await launch()
    await cluster.create(2)
    await cluster.advance(1_000)
    for (const replicas of [6, 1, 0, 3]) {
      await cluster.scale(PodSet.v1alpha1, replicas)
      await cluster.advance(1_000)
      assert.equal((await cluster.pods()).length, replicas)
      const { spec, status } = await cluster.scaleOf(PodSet.v1alpha1)
      assert.deepEqual([spec.replicas ?? 0, status.replicas], [replicas, replicas])
      assert.equal(status.selector, 'podset=example')
    }
  })

  it('deletes those first that can be missed best', async () => {
    await using cluster = await launch()
    await cluster.create(3)
    await cluster.advance(1_000)
    const [first, second] = (await cluster.pods()).map(({ metadata }) => metadata.name)
    for (const name of [first!, second!]) {
      await cluster.setStatus(name, { conditions: [{ type: 'Ready', status: 'True' }] })
    }
    await cluster.advance(1_000)
    assert.equal((await cluster.podSet())?.status?.readyReplicas, 2)
    await cluster.scale(PodSet.v1alpha1, 2)
    await cluster.advance(1_000)
    assert.deepEqual(
      (await cluster.pods()).map(({ metadata }) => metadata.name).sort(),
      [first, second].sort(),
    )
  })

  it('replaces Pods that end or are deleted', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.create(3)
    await cluster.advance(1_000)
    const [gone, ended] = (await cluster.pods()).map(({ metadata }) => metadata.name)
    await run(client.delete(Pod, { ...key, name: gone! }))
    await cluster.setStatus(ended!, { phase: 'Failed' })
    await cluster.advance(1_000)
    const alive = (await cluster.pods()).filter(({ status }) => status?.phase !== 'Failed')
    assert.equal(alive.length, 3)
    assert.equal((await cluster.podSet())?.status?.replicas, 3)
  })

  it('neither counts nor deletes Pods of others', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    const metadata = { ...key, name: 'other', labels: { podset: 'example' } }
    await run(client.create(Pod, { metadata, spec: { containers: [{ name: 'a', image: 'b' }] } }))
    await cluster.create(2)
    await cluster.advance(1_000)
    assert.equal((await cluster.pods()).length, 3)
    await cluster.scale(PodSet.v1alpha1, 0)
    await cluster.advance(1_000)
    assert.deepEqual(
      (await cluster.pods()).map(({ metadata: { name } }) => name),
      ['other'],
    )
  })

  it('never makes too many, whenever it crashes', async () => {
    for (let seed = 1; seed <= 8; seed++) {
      await using cluster = await launch(seed)
      await cluster.create(7)
      let { stop } = cluster
      for (let crash = 0; crash < 3; crash++) {
        await cluster.advance(cluster.env.random.below(8))
        await stop()
        stop = cluster.start(operator, { gracefulShutdown: 0 })
      }
      await cluster.advance(30_000)
      assert.equal((await cluster.pods()).length, 7, `seed ${seed}`)
    }
  })

  it('takes its Pods along when it goes', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.create(3)
    await cluster.advance(1_000)
    await run(client.delete(PodSet.v1alpha1, key))
    await cluster.advance(10_000)
    assert.deepEqual(await cluster.pods(), [])
  })
})

describe('a CronTab', () => {
  it('is scaled, and says how many replicas it has', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await run(client.create(CronTab.v1, { metadata: key, spec: { cronSpec: '* * * * */5' } }))
    await cluster.advance(1_000)
    await cluster.scale(CronTab.v1, 4)
    await cluster.advance(1_000)
    const { spec, status } = await cluster.scaleOf(CronTab.v1)
    assert.deepEqual([spec.replicas, status.replicas, status.selector], [4, 4, 'crontab=example'])
  })
})

describe('what is shipped', () => {
  it('is what the kinds give', () => {
    const documents = [...readYamlDocuments(readFileSync(new URL('./crd.yaml', import.meta.url)))]
    const given = [PodSet, CronTab].map(kind => toCustomResourceDefinition(kind))
    assert.deepEqual(
      documents.map(({ value }) => value),
      JSON.parse(JSON.stringify(given)),
    )
  })
})
