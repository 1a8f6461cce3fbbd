import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { defineKind, s } from '@coxswain/apimachinery/kinds'
import { VirtualWorld } from '@coxswain/kit'
import { defineOperator, installKinds, isRuntimeError, type Operator } from '@coxswain/runtime'
import { startCluster } from './cluster.ts'

const group = 'example.com'
const name = 'widgets.example.com'
const key = { namespace: 'default', name: 'a' }

const One = defineKind({ group, kind: 'Widget', versions: { v1: { spec: s.object({ size: s.string() }) } } })

/** Two versions that keep the size in different fields. */
const Two = defineKind({
  group,
  kind: 'Widget',
  versions: {
    v1: { spec: s.object({ size: s.string() }) },
    v2: { storage: true, spec: s.object({ length: s.string() }) },
  },
})

const reconciling = (kind: typeof One.v1 | typeof Two.v2, onReconcile = () => {}): Operator =>
  defineOperator('widgets', operator => {
    operator
      .controller('widgets')
      .for(kind)
      .reconcile(async () => onReconcile())
  })

const converting = (onReconcile = () => {}): Operator =>
  defineOperator('widgets', operator => {
    operator.webhook(Two.v2).convert(Two.v1, {
      to: ({ spec }) => ({ spec: { size: spec.length } }),
      from: ({ spec }) => ({ spec: { length: spec.size } }),
    })
    operator
      .controller('widgets')
      .for(Two.v2)
      .reconcile(async () => onReconcile())
  })

const launch = () => startCluster({ env: new VirtualWorld({ seed: 3 }), controllers: false })
const isRefused = (text: RegExp) => (error: unknown) => {
  assert.ok(isRuntimeError(error, 'UnsafeInstall'), String(error))
  assert.match(error.message, text)
  return true
}

describe('installing kinds', () => {
  it('creates a definition, updates it when the kind changes, and says so', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    assert.deepEqual(await cluster.install(reconciling(One.v1)), [{ name, change: 'created' }])
    assert.deepEqual(await cluster.install(reconciling(One.v1)), [{ name, change: 'unchanged' }])
    const More = defineKind({
      group,
      kind: 'Widget',
      versions: { v1: { spec: s.object({ size: s.string(), color: s.string().optional() }) } },
    })
    assert.deepEqual(await cluster.install(reconciling(More.v1)), [{ name, change: 'updated' }])
    const made = await run(client.create(More.v1, { metadata: key, spec: { size: 'big', color: 'red' } }))
    assert.equal(made.spec.color, 'red')
  })

  it('updates what an earlier version of this program created without server-side apply', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.install(reconciling(One.v1))
    const definition = await run(client.get(CustomResourceDefinition, { name }))
    await run(client.delete(CustomResourceDefinition, { name }))
    const { spec } = definition!
    const old = { ...spec, versions: spec.versions.map(version => ({ ...version, deprecated: true })) }
    await run(
      client.create(
        CustomResourceDefinition,
        { metadata: { name }, spec: old },
        { fieldManager: 'coxswain-run' },
      ),
    )
    assert.deepEqual(await cluster.install(reconciling(One.v1)), [{ name, change: 'updated' }])
  })

  it('leaves the fields of other managers alone, and says whose they are', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.install(reconciling(One.v1))
    const patch = { spec: { names: { singular: 'thing' } } }
    await run(client.patch(CustomResourceDefinition, { name }, patch, { fieldManager: 'helm' }))
    await assert.rejects(cluster.install(reconciling(One.v1)), isRefused(/also managed by helm/))
  })

  it('refuses to remove a version that objects may be stored in', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.install(reconciling(One.v1))
    const Next = defineKind({ group, kind: 'Widget', versions: { v2: { spec: s.object({}) } } })
    const before = await run(client.get(CustomResourceDefinition, { name }))
    await assert.rejects(
      cluster.install(reconciling(Next.v2 as never)),
      isRefused(/objects may be stored in v1 \(status.storedVersions\).*served: false.*\["v2"\]/),
    )
    const after = await run(client.get(CustomResourceDefinition, { name }))
    assert.equal(after?.metadata.resourceVersion, before?.metadata.resourceVersion)
  })

  it('refuses another scope, another kind and another plural', async () => {
    await using cluster = await launch()
    await cluster.install(reconciling(One.v1))
    const versions = { v1: { spec: s.object({ size: s.string() }) } }
    const refusals = [
      [
        { group, kind: 'Widget', scope: 'Cluster', versions },
        /scope would change from Namespaced to Cluster/,
      ],
      [{ group, kind: 'Gadget', plural: 'widgets', versions }, /kind would change from Widget to Gadget/],
      [{ group, kind: 'Widget', plural: 'widgetz', versions }, /Widget is served as widgets.example.com/],
    ] as const
    for (const [definition, text] of refusals)
      await assert.rejects(
        cluster.install(reconciling(defineKind(definition).v1 as typeof One.v1)),
        isRefused(text),
      )
  })

  it('does not install a kind with conversions without them', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await assert.rejects(run(installKinds(client, [converting()])), isRefused(/has conversions/))
    assert.equal(await run(client.get(CustomResourceDefinition, { name })), undefined)
  })

  it('writes a kind with conversions together with its webhook, which answers by then', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    const strategies: (string | undefined)[] = []
    const watching = (async () => {
      for await (const event of client.watch(CustomResourceDefinition, { timeoutSeconds: 60 }))
        if (event.type !== 'BOOKMARK') strategies.push(event.object.spec.conversion?.strategy)
    })()
    let lengths: Promise<unknown> | undefined
    cluster.start(converting(), {
      install: {
        onInstalled: () => {
          lengths = client
            .create(Two.v1, { metadata: key, spec: { size: 'big' } })
            .then(() => client.get(Two.v2, key))
            .then(widget => widget?.spec.length)
        },
      },
    })
    await cluster.settle()
    assert.equal(await run(lengths!), 'big', 'an object of another version keeps its fields')
    await cluster.advance(61_000)
    await run(watching)
    assert.deepEqual([...new Set(strategies)], ['Webhook'])
  })

  it('serves a kind whose webhook is not there yet without dropping fields', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.install(converting())
    await assert.rejects(
      run(client.create(Two.v1, { metadata: key, spec: { size: 'big' } })),
      /conversion webhook/,
    )
    cluster.start(converting())
    await cluster.settle()
    await run(client.create(Two.v1, { metadata: key, spec: { size: 'big' } }))
    assert.equal((await run(client.get(Two.v2, key)))?.spec.length, 'big')
  })

  it('writes the conversion before the kind is watched, so that no watch breaks', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.install(reconciling(Two.v2)) // as another installer would: without a conversion
    let count = 0
    cluster.start(converting(() => void count++))
    await cluster.settle()
    await run(client.create(Two.v2, { metadata: key, spec: { length: 'big' } }))
    await cluster.settle()
    assert.equal(count, 1, 'without any time passing')
  })

  it('goes on at once when a conversion is written while the kind is watched', async () => {
    await using cluster = await launch()
    const { client, run, env } = cluster
    await cluster.install(reconciling(Two.v2))
    let count = 0
    cluster.start(reconciling(Two.v2, () => void count++))
    await cluster.advance(10_000)
    cluster.start(converting())
    await cluster.settle()
    const before = env.clock.now()
    await run(client.create(Two.v2, { metadata: key, spec: { length: 'big' } }))
    await cluster.settle()
    for (; count === 0 && env.clock.now() - before < 10_000; ) await cluster.advance(50)
    assert.ok(env.clock.now() - before <= 500, `${env.clock.now() - before} ms`)
  })
})
