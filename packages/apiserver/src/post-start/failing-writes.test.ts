import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import { createMemoryStore, type Store, StoreError, type Transaction } from '@coxswain/storage'
import { startServer } from '../authorization/test-support/running-server.ts'

/** A server on a store that rejects transactions while `fails` returns true. */
async function startOnFailingStore() {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const faults = { fails: (_: Transaction): boolean => false, refused: 0 }
  const failing: Store = new Proxy(store, {
    get(target, property) {
      const value = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      if (property !== 'transact') return value.bind(target)
      return async (transaction: Transaction) => {
        if (!faults.fails(transaction)) return await target.transact(transaction)
        faults.refused++
        throw new StoreError('Closed', 'the disk does not answer')
      }
    },
  })
  const server = await startServer({ env: world, store: failing })
  return { world, faults, server }
}

const touches = (prefix: string) => (transaction: Transaction) =>
  transaction.operations.some(({ key }) => key.startsWith(prefix))

describe('the control loops of the server when writes fail', () => {
  it('establish a CRD as soon as its status can be written again', async () => {
    const { world, faults, server } = await startOnFailingStore()
    await using _ = server
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    let seen = 0
    // The client's own write passes; the writes of the control loop after it do not.
    faults.fails = transaction => touches('/apiextensions.k8s.io/')(transaction) && ++seen > 1 && seen < 6
    await server.write('POST', path, {
      metadata: { name: 'ships.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'ships', kind: 'Ship' },
        scope: 'Namespaced',
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    })
    await world.run(world.clock.sleep(10_000))
    assert.equal(faults.refused, 4)
    const { status } = (await server.write('GET', `${path}/ships.example.com`)) as {
      status: { conditions: { type: string; status: string }[] }
    }
    assert.equal(status.conditions.find(({ type }) => type === 'Established')?.status, 'True')
  })

  it('recreate the service kubernetes and the addresses of services, and the server continues', async () => {
    const { world, faults, server } = await startOnFailingStore()
    await using _ = server
    const service = '/api/v1/namespaces/default/services/kubernetes'
    const before = (await server.write('GET', service)) as { spec: { clusterIP: string } }
    const address = `/apis/networking.k8s.io/v1/ipaddresses/${before.spec.clusterIP}`
    await server.write('DELETE', service)
    await world.run(world.clock.sleep(1_000))
    const isCreation = ({ operations }: Transaction) => operations.some(({ type }) => type === 'put')
    let left = 3
    faults.fails = transaction =>
      isCreation(transaction) &&
      (touches('/core/services/')(transaction) || touches('/networking.k8s.io/')(transaction)) &&
      left-- > 0
    await server.write('DELETE', service)
    await world.run(world.clock.sleep(10_000))
    assert.ok(faults.refused > 0)
    await server.write('GET', service)
    left = 3
    await server.write('DELETE', address)
    await world.run(world.clock.sleep(10_000))
    await server.write('GET', address)
  })
})
