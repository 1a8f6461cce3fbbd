import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Event } from '@coxswain/api/core/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { type CreateOf, toCustomResourceDefinition } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import { createDemoOperator, Demo, finalizer } from './operator.ts'

const readFile = (name: string) => readYaml(readFileSync(new URL(name, import.meta.url)))?.value
const sample = readFile('./sample.yaml') as CreateOf<typeof Demo.v1>
const key = { namespace: 'default', name: 'crd-demo' }

async function launch() {
  const cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
  const { client, run } = cluster
  const outside = { isDown: false, released: [] as string[] }
  const operator = createDemoOperator({
    async release(name) {
      if (outside.isDown) throw new Error('it is down')
      outside.released.push(name)
    },
  })
  await cluster.install(operator)
  cluster.start(operator)
  return {
    ...cluster,
    outside,
    create: (given: { finalizers?: string[]; name?: string } = {}) => {
      const { finalizers = sample.metadata?.finalizers ?? [], name = 'test' } = given
      return run(client.create(Demo.v1, { metadata: { ...key, finalizers }, spec: { name } }))
    },
    get: () => run(client.get(Demo.v1, key)),
    async delete() {
      await run(client.delete(Demo.v1, key))
      await cluster.advance(1_000)
    },
    reasons: async () =>
      (await run(client.list(Event, { namespace: key.namespace }))).items.map(({ reason }) => reason),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

describe('the demo operator', () => {
  it('releases what is outside before the object is deleted', async () => {
    await using cluster = await launch()
    await cluster.create()
    await cluster.advance(1_000)
    assert.deepEqual(cluster.outside.released, [])
    await cluster.delete()
    assert.deepEqual(cluster.outside.released, ['test'])
    assert.equal(await cluster.get(), undefined)
    assert.deepEqual(await cluster.reasons(), ['Released'])
  })

  it('adds its finalizer where the manifest has none', async () => {
    await using cluster = await launch()
    await cluster.create({ finalizers: [] })
    await cluster.advance(1_000)
    assert.deepEqual((await cluster.get())?.metadata.finalizers, [finalizer])
  })

  it('keeps the object while the outside is down, says why, and tries again', async () => {
    await using cluster = await launch()
    await cluster.create()
    await cluster.advance(1_000)
    cluster.outside.isDown = true
    await cluster.delete()
    await cluster.advance(60_000)
    const demo = await cluster.get()
    assert.ok(demo?.metadata.deletionTimestamp)
    assert.equal(demo.status?.message, 'test cannot be released: it is down')
    assert.deepEqual(await cluster.reasons(), ['ReleaseFailed'], 'once')
    cluster.outside.isDown = false
    await cluster.advance(10_000)
    assert.equal(await cluster.get(), undefined)
  })

  it('accepts no other name than test', async () => {
    await using cluster = await launch()
    await assert.rejects(cluster.create({ name: 'tests' }), { reason: 'Invalid' })
  })

  it('ships the definition that its kind gives', () => {
    assert.deepEqual(readFile('./crd.yaml'), JSON.parse(JSON.stringify(toCustomResourceDefinition(Demo))))
  })
})
