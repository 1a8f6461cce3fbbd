import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import { defineKind, s } from '@coxswain/apimachinery/kinds'
import { newControllerReference } from '@coxswain/apimachinery/meta'
import { defineOperator } from '@coxswain/runtime'
import { type Scenario, simulate } from './index.ts'

const Greeting = defineKind({
  group: 'example.com',
  kind: 'Greeting',
  versions: { v1: { spec: s.object({ to: s.string() }), status: s.object({ text: s.string().optional() }) } },
})

const scenario: Scenario = async ({ client, clock }) => {
  await client.create(Greeting.v1, { metadata: { namespace: 'default', name: 'a' }, spec: { to: 'you' } })
  await clock.sleep(5_000)
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
            namespace: 'default',
            generateName: `${key.name}-`,
            ownerReferences: [newControllerReference(greeting)],
          },
        })
      ).metadata
      await client.updateStatus(Greeting.v1, { ...greeting, status: { text: name } })
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
  })

  it('finds a crash between two writes, and explains it', async () => {
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
    const again = await simulate(leaky, { scenario })
    assert.equal(again.failures[0]?.text, failure.text, 'two runs of one seed are identical')
  })
})
