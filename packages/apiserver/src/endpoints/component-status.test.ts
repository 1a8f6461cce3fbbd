import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport } from '@coxswain/wire'
import { createApiServer } from '../server.ts'
import type { ComponentCheck } from './health.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const components: Readonly<Record<string, ComponentCheck>> = {
  scheduler: async () => ({ healthy: 'unknown', error: 'connection refused' }),
  'controller-manager': async () => ({ healthy: false, message: 'not ok' }),
}

async function ask(query: string, name = '', accept = 'application/json') {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const server = createApiServer({ env: world, store, components })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const transport = createInProcessTransport(server.handler, world, { peer: admin })
  const path = `/api/v1/componentstatuses${name && `/${name}`}`
  const answer = await world.run(
    transport.send({ method: 'GET', path, query, headers: { accept }, signal: group.signal }),
  )
  group.abort()
  await world.run(group.join())
  await world.run(store.close())
  const body = JSON.parse(new TextDecoder().decode(answer.body as Uint8Array))
  return { status: answer.status, warning: String(answer.headers.warning), body }
}

const condition = (status: string, rest: object) => [{ type: 'Healthy', status, ...rest }]
const store = { metadata: { name: 'etcd-0' }, conditions: condition('True', { message: 'ok' }) }

describe('componentstatuses', () => {
  it('are the store and the registered components, with a deprecation warning', async () => {
    const { body, warning } = await ask('')
    assert.deepEqual(body, {
      kind: 'ComponentStatusList',
      apiVersion: 'v1',
      metadata: {},
      items: [
        { metadata: { name: 'controller-manager' }, conditions: condition('False', { message: 'not ok' }) },
        store,
        {
          metadata: { name: 'scheduler' },
          conditions: condition('Unknown', { error: 'connection refused' }),
        },
      ],
    })
    assert.match(warning, /v1 ComponentStatus is deprecated in v1\.19\+/)
  })

  it('can be read one by one, and selected', async () => {
    assert.deepEqual((await ask('', 'etcd-0')).body, { kind: 'ComponentStatus', apiVersion: 'v1', ...store })
    const missing = await ask('', 'etcd-1')
    assert.equal(missing.status, 404)
    assert.equal(missing.body.message, 'componentstatus "etcd-1" not found')
    assert.deepEqual((await ask('fieldSelector=metadata.name%3Detcd-0')).body.items, [store])
    assert.deepEqual((await ask('labelSelector=a%3Db')).body.items, [])
  })

  it('print as upstream prints them', async () => {
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { body } = await ask('', '', table)
    assert.deepEqual(
      body.rows.map(({ cells }: { cells: unknown }) => cells),
      [
        ['controller-manager', 'Unhealthy', 'not ok', ''],
        ['etcd-0', 'Healthy', 'ok', ''],
        ['scheduler', 'Unhealthy', '', 'connection refused'],
      ],
    )
  })
})
