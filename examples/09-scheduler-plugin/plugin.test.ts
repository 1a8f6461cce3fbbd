import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Node, Pod } from '@coxswain/api/core/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { createScheduler, readSchedulerConfiguration } from '@coxswain/scheduler'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import plugin from './plugin.ts'

const shipped = (file: string) => readYaml(readFileSync(new URL(file, import.meta.url)))?.value

async function launch() {
  const cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
  const { client, run } = cluster
  cluster.start(
    createScheduler(readSchedulerConfiguration(shipped('./configuration.yaml'), { plugins: [plugin] })),
  )
  const setPrice = (name: string, price: string) => {
    const labels = { 'example.com/price': price }
    return run(client.patch(Node, { name }, { metadata: { labels } }, { type: 'merge' }))
  }
  for (const [name, price] of Object.entries({ cheap: '2', fair: '4', dear: '8' })) {
    const node = await run(client.create(Node, { metadata: { name } }))
    const allocatable = { cpu: '4', memory: '8Gi', pods: '10' }
    await run(client.updateStatus(Node, { ...node, status: { capacity: allocatable, allocatable } }))
    await run(client.patch(Node, { name }, { spec: { taints: [] } }, { type: 'merge' }))
    await setPrice(name, price)
  }
  const sample = shipped('./sample.yaml') as Pick<Pod, 'spec'>
  return {
    setPrice,
    async schedule(name: string, budget: string, spec: object = {}) {
      const metadata = { name, namespace: 'default', annotations: { 'example.com/budget': budget } }
      await run(client.create(Pod, { metadata, spec: { ...sample.spec, ...spec } }))
      await cluster.advance(2_000)
    },
    pod: (name: string) => run(client.get(Pod, { namespace: 'default', name })),
    advance: cluster.advance,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

describe('the price plug-in', () => {
  it('chooses the cheapest node', async () => {
    await using cluster = await launch()
    for (const name of ['a', 'b', 'c']) {
      await cluster.schedule(name, '100')
      assert.equal((await cluster.pod(name))?.spec.nodeName, 'cheap')
    }
  })

  it('keeps pods within their budget, until a price falls', async () => {
    await using cluster = await launch()
    await cluster.schedule('poor', '1')
    const { status, spec } = (await cluster.pod('poor'))!
    assert.equal(spec.nodeName, undefined)
    const [condition] = status!.conditions!
    assert.match(condition?.message ?? '', /^0\/3 nodes are available: 3 node\(s\) were too expensive\./)
    await cluster.setPrice('dear', '1')
    await cluster.advance(5_000)
    assert.equal((await cluster.pod('poor'))?.spec.nodeName, 'dear')
  })

  it('has no say in other profiles', async () => {
    await using cluster = await launch()
    await cluster.schedule('other', '0', { schedulerName: 'default-scheduler' })
    assert.notEqual((await cluster.pod('other'))?.spec.nodeName, undefined)
  })
})
