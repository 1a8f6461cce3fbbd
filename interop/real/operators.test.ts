import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Event, Pod } from '@coxswain/api/core/v1'
import { installKinds } from '@coxswain/runtime'
import cnat, { At } from '../../examples/01-at/operator.ts'
import { NetworkInventory } from '../../examples/02-network/network-service.ts'
import { createNetworkOperator, Network } from '../../examples/02-network/operator.ts'
import { eventually, startSession } from './session.ts'

describe('operators, unchanged, against a real server', () => {
  it('examples/01-at runs its pod when it is time, and cleans up', async () => {
    await using session = await startSession('at')
    const { client, namespace } = session
    await installKinds(client, [cnat])
    session.start(cnat, { namespaces: [namespace] })
    const key = { namespace, name: 'soon' }
    const schedule = `${new Date(Date.now() + 2_000).toISOString().slice(0, 19)}Z`
    const containers = [{ name: 'c', image: 'i' }]
    await eventually('the kind is served', () =>
      client.create(At.v1alpha1, { metadata: key, spec: { schedule, containers } }),
    )
    await eventually('it runs', async () => (await client.get(At.v1alpha1, key))?.status?.phase === 'RUNNING')
    const { items } = await client.list(Pod, { namespace })
    assert.equal(items.length, 1)
    // No kubelet runs there: the test plays it.
    await client.updateStatus(Pod, { ...items[0]!, status: { ...items[0]!.status, phase: 'Succeeded' } })
    await eventually('it is done', async () => (await client.get(At.v1alpha1, key))?.status?.phase === 'DONE')
    await client.delete(At.v1alpha1, key)
    await eventually('both are deleted', async () => {
      const at = await client.get(At.v1alpha1, key)
      const pods = await client.list(Pod, { namespace })
      return at === undefined && pods.items.every(({ metadata }) => metadata.deletionTimestamp)
    })
  })

  it('examples/02-network keeps networks outside as they are asked for', async () => {
    await using session = await startSession('network')
    const { client, namespace } = session
    const inventory = new NetworkInventory()
    const operator = createNetworkOperator(inventory)
    await installKinds(client, [operator])
    session.start(operator, { namespaces: [namespace] })
    const key = { namespace, name: 'net' }
    const spec = { cidr: '192.168.0.0/16', gateway: '192.168.0.1' }
    const made = await eventually('the kind is served', () =>
      client.create(Network.v1, { metadata: key, spec }),
    )
    const ready = await eventually('it is ready', async () => {
      const found = await client.get(Network.v1, key)
      return (
        found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') && found
      )
    })
    const outside = await inventory.find(made.metadata.uid)
    assert.deepEqual([outside?.cidr, outside?.id], [spec.cidr, ready.status?.id])
    await eventually('the event is there', async () => {
      const { items } = await client.list(Event, { namespace })
      return items.some(({ reason, involvedObject }) => reason === 'Created' && involvedObject.name === 'net')
    })
    await client.delete(Network.v1, key)
    await eventually('it is deleted', async () => (await client.get(Network.v1, key)) === undefined)
    assert.equal(await inventory.find(made.metadata.uid), undefined)
  })
})
