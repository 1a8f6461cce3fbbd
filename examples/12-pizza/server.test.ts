import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '@coxswain/client'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createInProcessTransport } from '@coxswain/wire'
import { isConflict } from 'coxswain'
import { createMemoryStore, createOwnApiServer } from 'coxswain/server'
import { group, Pizza, Topping } from './kinds.ts'
import definition from './server.ts'

const administrator = {
  commonName: 'admin',
  organizations: ['system:masters'],
  notAfter: Number.MAX_SAFE_INTEGER,
}
const key = { namespace: 'default', name: 'margherita' }
const base = `/apis/${group}`

async function launch() {
  const world = new VirtualWorld({ seed: 1 })
  const store = createMemoryStore({ env: world })
  const server = createOwnApiServer(definition, { env: world, store })
  const tasks = new TaskGroup()
  tasks.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const transport = createInProcessTransport(server.handler, world, { peer: administrator })
  const client = createClient({ env: world, transport })
  const run = <T>(promise: Promise<T>) => world.run(promise)
  const ask = async (method: string, url: string, body?: unknown, accept = 'application/json') => {
    const [path = '', query = ''] = url.split('?')
    const bytes = body === undefined ? {} : { body: new TextEncoder().encode(JSON.stringify(body)) }
    const answer = await server.handler({
      method,
      path,
      query,
      headers: { accept, 'content-type': 'application/json' },
      peer: administrator,
      signal: tasks.signal,
      ...bytes,
    })
    const text = new TextDecoder().decode(answer.body as Uint8Array)
    return { status: answer.status, headers: answer.headers, body: JSON.parse(text) }
  }
  const send = (...request: Parameters<typeof ask>) => run(ask(...request))
  for (const [name, cost] of Object.entries({ mozzarella: 1, tomato: 0.5, pineapple: 2 }))
    await run(client.create(Topping.v1, { metadata: { name }, spec: { cost } }))
  return {
    world,
    client,
    run,
    ask,
    send,
    async [Symbol.asyncDispose]() {
      tasks.abort()
      await run(tasks.join())
      await run(store.close())
    },
  }
}

const toppings = [{ name: 'mozzarella', quantity: 2 }, { name: 'tomato' }]
const order = { metadata: key, spec: { toppings } }

describe('the pizza server', () => {
  it('rejects toppings that do not exist, which no CRD can do', async () => {
    await using restaurant = await launch()
    const { status, body } = await restaurant.send('POST', `${base}/v1beta1/namespaces/default/pizzas`, {
      apiVersion: `${group}/v1beta1`,
      kind: 'Pizza',
      ...order,
      spec: { toppings: [{ name: 'mozzarella' }, { name: 'gold' }] },
    })
    assert.equal(status, 422)
    assert.match(body.message, /spec\.toppings\[1\]\.name: Not found: "gold"/)
    const bad = await restaurant.send('POST', `${base}/v1alpha1/namespaces/default/pizzas`, {
      apiVersion: `${group}/v1alpha1`,
      kind: 'Pizza',
      metadata: key,
      spec: { toppings: ['silver'] },
    })
    assert.match(bad.body.message, /Not found: "silver"/)
  })

  it('serves both versions of a pizza, converted in process', async () => {
    await using restaurant = await launch()
    const { client, run } = restaurant
    await run(client.create(Pizza.v1beta1, order))
    const old = await run(client.get(Pizza.v1alpha1, key))
    assert.deepEqual(old?.spec.toppings, ['mozzarella', 'mozzarella', 'tomato'])
    await run(client.update(Pizza.v1alpha1, { ...old!, spec: { toppings: ['tomato', 'tomato'] } }))
    assert.deepEqual((await run(client.get(Pizza.v1beta1, key)))?.spec.toppings, [
      { name: 'tomato', quantity: 2 },
    ])
  })

  it('prints columns that are computed, selects by computed fields, and warns', async () => {
    await using restaurant = await launch()
    const { client, run, send } = restaurant
    await run(client.create(Pizza.v1beta1, order))
    const path = `${base}/v1beta1/namespaces/default/pizzas`
    const table = await send('GET', path, undefined, 'application/json;as=Table;v=v1;g=meta.k8s.io')
    assert.deepEqual(
      table.body.columnDefinitions.map(({ name }: { name: string }) => name),
      ['Name', 'Toppings', 'Slices', 'Age'],
    )
    assert.deepEqual(table.body.rows[0].cells.slice(0, 3), ['margherita', '2x mozzarella, 1x tomato', 0])
    const select = (value: string) => send('GET', `${path}?fieldSelector=spec.vegetarian%3D${value}`)
    assert.equal((await select('true')).body.items.length, 1)
    assert.equal((await select('false')).body.items.length, 0)
    const hawaii = { ...order, metadata: { name: 'hawaii' }, spec: { toppings: [{ name: 'pineapple' }] } }
    const warned = await send('POST', path, { apiVersion: `${group}/v1beta1`, kind: 'Pizza', ...hawaii })
    assert.match(String(warned.headers.warning), /are you sure/)
  })

  it('has actions: it is baked once, and eaten to the last slice and not beyond', async () => {
    await using restaurant = await launch()
    const { client, run, ask, send } = restaurant
    await run(client.create(Pizza.v1beta1, order))
    const path = `${base}/v1beta1/namespaces/default/pizzas/${key.name}`
    const baked = await send('POST', `${path}/bake`, {})
    assert.equal(baked.status, 201)
    assert.deepEqual(baked.body.status, { cost: 2.5, slicesLeft: 8 })
    const eaten = await run(Promise.all(Array.from({ length: 10 }, () => ask('POST', `${path}/eat`, {}))))
    assert.equal(eaten.filter(({ status }) => status === 200).length, 8)
    assert.equal(eaten.filter(({ status }) => status === 409).length, 2)
    assert.equal((await run(client.get(Pizza.v1beta1, key)))?.status?.slicesLeft, 0)
    const wrong = await send('GET', `${path}/eat`)
    assert.equal(wrong.status, 405)
    assert.equal((await send('POST', `${path}/burn`, {})).status, 404)
    assert.equal((await send('POST', `${path.replace('margherita', 'none')}/eat`, {})).status, 404)
  })

  it('is a whole API server: discovery, watch, apply, RBAC, conflicts', async () => {
    await using restaurant = await launch()
    const { client, run, send } = restaurant
    const discovered = await send('GET', `${base}/v1beta1`)
    assert.deepEqual(
      discovered.body.resources.map(({ name }: { name: string }) => name),
      ['pizzas', 'pizzas/bake', 'pizzas/eat', 'pizzas/status'],
    )
    const created = await run(client.create(Pizza.v1beta1, order))
    await run(
      client.apply(Pizza.v1beta1, { metadata: { ...key, labels: { hot: 'yes' } } }, { fieldManager: 'me' }),
    )
    await run(assert.rejects(client.update(Pizza.v1beta1, created), isConflict))
    assert.equal((await run(client.get(Pizza.v1beta1, key)))?.metadata.labels?.hot, 'yes')
    await run(client.delete(Pizza.v1beta1, key))
    assert.equal(await run(client.get(Pizza.v1beta1, key)), undefined)
  })
})
