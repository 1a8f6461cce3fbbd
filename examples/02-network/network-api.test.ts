import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHttpNetworkApi, type NetworkApi } from './network-api.ts'
import { NetworkInventory, serveNetworks } from './network-service.ts'

const settings = { name: 'default/a', cidr: '192.168.0.0/16', gateway: '192.168.0.1' }

interface Outside extends AsyncDisposable {
  readonly api: NetworkApi
  readonly inventory: NetworkInventory
}

const variants: Record<string, () => Promise<Outside>> = {
  'in memory': async () => {
    const inventory = new NetworkInventory()
    return { api: inventory, inventory, [Symbol.asyncDispose]: async () => {} }
  },
  'over HTTP': async () => {
    const inventory = new NetworkInventory()
    const service = await serveNetworks(inventory)
    const dispose = () => service[Symbol.asyncDispose]()
    return { api: createHttpNetworkApi(service.url), inventory, [Symbol.asyncDispose]: dispose }
  },
}

for (const [name, start] of Object.entries(variants)) {
  describe(`the network API ${name}`, () => {
    it('makes, finds, changes and deletes networks', async () => {
      await using outside = await start()
      const { api, inventory } = outside
      assert.equal(await api.find('owner'), undefined)
      const made = await api.create('owner', settings)
      assert.deepEqual(made, { id: made.id, owner: 'owner', ...settings })
      assert.deepEqual(await api.find('owner'), made)
      const changed = await api.update(made.id, { ...settings, gateway: '192.168.0.254' })
      assert.deepEqual(await api.find('owner'), changed)
      await api.delete(made.id)
      assert.equal(await api.find('owner'), undefined)
      await api.delete(made.id)
      assert.equal(inventory.changes.length, 3)
    })

    it('makes no second network for one owner', async () => {
      await using outside = await start()
      await outside.api.create('owner', settings)
      await assert.rejects(outside.api.create('owner', settings), { code: 'Conflict' })
    })

    it('refuses what is no network', async () => {
      await using outside = await start()
      const { api } = outside
      await assert.rejects(api.create('owner', { ...settings, cidr: 'wide' }), { code: 'Refused' })
      await assert.rejects(api.create('owner', { ...settings, cidr: '10.0.0.0/33' }), { code: 'Refused' })
      await assert.rejects(api.create('owner', { ...settings, gateway: '10.0.0.1' }), {
        code: 'Refused',
        message: 'gateway 10.0.0.1 is not in 192.168.0.0/16',
      })
      await assert.rejects(api.update('net-7', settings), { code: 'NotFound' })
    })

    it('is unavailable while it is down', async () => {
      await using outside = await start()
      outside.inventory.isDown = true
      await assert.rejects(outside.api.find('owner'), { code: 'Unavailable' })
    })
  })
}

describe('the client over HTTP', () => {
  it('takes a service that is not there for unavailable', async () => {
    const service = await serveNetworks(new NetworkInventory())
    await service[Symbol.asyncDispose]()
    await assert.rejects(createHttpNetworkApi(service.url).find('owner'), { code: 'Unavailable' })
  })
})
