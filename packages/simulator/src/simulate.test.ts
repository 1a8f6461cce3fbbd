import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import { defineKind, s } from '@coxswain/apimachinery/kinds'
import { newControllerReference } from '@coxswain/apimachinery/meta'
import { defineOperator } from '@coxswain/runtime'
import { replay, type Scenario, simulate } from './index.ts'

const Greeting = defineKind({
  group: 'example.com',
  kind: 'Greeting',
  versions: { v1: { spec: s.object({ to: s.string() }), status: s.object({ text: s.string().optional() }) } },
})

const scenario: Scenario = async ({ client, settle }) => {
  await client.create(Greeting.v1, { metadata: { namespace: 'default', name: 'a' }, spec: { to: 'you' } })
  await settle()
  const a = await client.get(Greeting.v1, { namespace: 'default', name: 'a' })
  await client.update(Greeting.v1, { ...a!, spec: { to: 'them' } })
}

/** Right: level-based, named after its owner. */
const greeter = defineOperator('greeter', operator => {
  operator
    .controller('greeting')
    .for(Greeting.v1)
    .owns(ConfigMap)
    .reconcile(async ({ key, client }) => {
      const greeting = await client.get(Greeting.v1, key)
      if (!greeting || greeting.metadata.deletionTimestamp) return
      const text = `Ahoy, ${greeting.spec.to}!`
      const metadata = { ...key, ownerReferences: [newControllerReference(greeting)] }
      await client.apply(ConfigMap, { metadata, data: { text } }, { fieldManager: 'greeter', force: true })
      if (greeting.status?.text !== text)
        await client.updateStatus(Greeting.v1, { ...greeting, status: { text } })
    })
})

/** Wrong: creates under a generated name, and remembers that only in the status that it writes afterwards. */
const leaky = defineOperator('leaky', operator => {
  operator
    .controller('greeting')
    .for(Greeting.v1)
    .reconcile(async ({ key, client }) => {
      const greeting = await client.get(Greeting.v1, key)
      if (!greeting || greeting.metadata.deletionTimestamp || greeting.status?.text) return
      const { name } = (
        await client.create(ConfigMap, {
          metadata: {
            namespace: key.namespace ?? 'default',
            generateName: `${key.name}-`,
            ownerReferences: [newControllerReference(greeting)],
          },
        })
      ).metadata
      await client.updateStatus(Greeting.v1, { ...greeting, status: { text: name } })
    })
})

/** Tells a service outside of the cluster, and never takes it back. */
const teller = defineOperator('teller', operator => {
  operator
    .controller('greeting')
    .for(Greeting.v1)
    .reconcile(async ({ key, client }) => {
      const greeting = await client.get(Greeting.v1, key)
      if (!greeting) return
      const body = JSON.stringify(greeting.spec)
      await fetch(`https://ears.example.com/heard/${key.namespace}-${key.name}`, { method: 'PUT', body })
    })
})

describe('simulate', () => {
  it('finds nothing in an operator that is right, and says how much it tried', async () => {
    const report = await simulate(greeter, { scenario, only: ['lose-response'], budget: { runs: 20 } })
    assert.deepEqual(
      report.failures.map(({ text }) => text),
      [],
    )
    assert.ok(report.complete)
    assert.ok(report.singleFaults >= 4, String(report.singleFaults))
    assert.ok(report.states >= 4, String(report.states))
  })

  it('finds a crash between two writes, explains it, and replays it identically', async () => {
    const report = await simulate(leaky, { scenario })
    const [failure] = report.failures
    assert.ok(failure)
    assert.equal(failure.plan.faults.length, 1)
    assert.match(failure.text, /^same-end: the state in the end is not that of an undisturbed run/)
    assert.match(
      failure.text,
      /What went wrong: the process was killed after write 1 \(create in configmaps default/,
    )
    assert.match(failure.text, /simulate\.test\.ts:\d+/)
    const again = await replay(leaky, failure.plan, { scenario })
    assert.equal(again?.text, failure.text)
    assert.equal(again?.hash, failure.hash)
    const other = await replay(leaky, { ...failure.plan, seed: 7 }, { scenario })
    assert.notEqual(other?.hash, failure.hash)
  })

  it('makes scenarios from the schema, and removes the actions that a failure does not need', async () => {
    const { failures, scenarios } = await simulate(leaky)
    assert.ok(scenarios.includes('Greeting: the same name in two namespaces'), String(scenarios))
    assert.equal(failures.length, 1)
    assert.ok((failures[0]?.plan.actions?.length ?? 9) <= 2, String(failures[0]?.text))
  })

  it('leads fetch into the world, compares what is left there, and leaves oracles out by name', async () => {
    const outside = globalThis.fetch
    const budget = { runs: 4 }
    const { failures } = await simulate(teller, { scenario, budget })
    assert.match(failures[0]?.text ?? '', /nothing-left: [\s\S]*service ears\.example\.com\/heard\/default-a/)
    assert.equal(globalThis.fetch, outside)
    const { failures: none } = await simulate(teller, { scenario, budget, without: ['nothing-left'] })
    assert.deepEqual(none, [])
  })

  it('says so when there is nothing that it could do', async () => {
    const idle = defineOperator('idle', operator => operator.task('wait', async () => {}))
    await assert.rejects(simulate(idle), /neither a scenario nor a sample/)
  })
})
