import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { ConfigMap, Event, Namespace, Secret } from '@coxswain/api/core/v1'
import { type DeleteOptions, kindFor } from '@coxswain/client'
import { eventually, type Session, startSession } from './session.ts'

type Owner = { readonly name: string; readonly uid: string; readonly blocking?: boolean }

describe('our garbage collector and namespace controller, against a real server', () => {
  let session: Session
  before(async () => {
    session = await startSession('gc')
  })
  after(() => session[Symbol.asyncDispose]())

  const make = async (name: string, owners: readonly Owner[] = [], finalizers: string[] = []) => {
    const { client, namespace } = session
    const ownerReferences = owners.map(({ name: owner, uid, blocking = false }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: owner,
      uid,
      blockOwnerDeletion: blocking,
    }))
    const made = await client.create(ConfigMap, {
      metadata: { namespace, name, ownerReferences, finalizers },
    })
    return { name, uid: made.metadata.uid }
  }
  const find = (name: string) => session.client.get(ConfigMap, { namespace: session.namespace, name })
  const remove = (name: string, options?: DeleteOptions) =>
    session.client.delete(ConfigMap, { namespace: session.namespace, name }, options)
  const gone = (name: string) =>
    eventually(`${name} is deleted`, async () => (await find(name)) === undefined)

  it('background: dependents and theirs are deleted, unrelated objects stay', async () => {
    const owner = await make('b-owner')
    const child = await make('b-child', [owner])
    await make('b-grandchild', [child])
    await make('b-unrelated')
    await remove('b-owner')
    await gone('b-child')
    await gone('b-grandchild')
    assert.ok(await find('b-unrelated'))
  })

  it('foreground: the owner waits for a dependent that waits', async () => {
    const { client, namespace } = session
    const owner = await make('f-owner')
    await make('f-child', [{ ...owner, blocking: true }], ['example.com/wait'])
    await eventually('the collector has seen them', async () => true)
    await remove('f-owner', { propagationPolicy: 'Foreground' })
    await eventually(
      'the child is terminating',
      async () => (await find('f-child'))?.metadata.deletionTimestamp,
    )
    assert.deepEqual((await find('f-owner'))?.metadata.finalizers, ['foregroundDeletion'])
    await client.patch(ConfigMap, { namespace, name: 'f-child' }, { metadata: { finalizers: null } })
    await gone('f-child')
    await gone('f-owner')
  })

  it('orphan: dependents stay without the reference', async () => {
    const owner = await make('o-owner')
    await make('o-child', [owner])
    await new Promise(resolve => setTimeout(resolve, 1_000)) // the collector has to have seen the child
    await remove('o-owner', { propagationPolicy: 'Orphan' })
    await gone('o-owner')
    assert.deepEqual((await find('o-child'))?.metadata.ownerReferences ?? [], [])
  })

  it('absent owners, and owners in other namespaces with their event', async () => {
    const { client } = session
    await make('a-child', [{ name: 'missing', uid: '12345678-1234-1234-1234-123456789012' }])
    await gone('a-child')
    const owner = await make('n-owner')
    await make('n-good', [owner])
    const other = (await client.create(Namespace, { metadata: { generateName: 'gc-other-' } })).metadata.name
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', ...owner }
    await client.create(ConfigMap, {
      metadata: { namespace: other, name: 'bad', ownerReferences: [reference] },
    })
    await eventually('it is deleted', async () => {
      const found = await client.get(ConfigMap, { namespace: other, name: 'bad' })
      return found === undefined
    })
    await eventually('the event is there', async () => {
      const { items } = await client.list(Event, { namespace: other })
      return items.some(({ reason }) => reason === 'OwnerRefInvalidNamespace')
    })
    assert.ok(await find('n-good'))
    await client.delete(Namespace, { name: other })
  })

  it('custom resources, also of a kind that comes while the collector runs', async () => {
    const { client, namespace } = session
    const Ship = kindFor({
      group: 'real.example.com',
      version: 'v1',
      kind: 'Ship',
      resource: 'ships',
      namespaced: true,
    })
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const names = { kind: 'Ship', plural: 'ships' }
    const versions = [{ name: 'v1', served: true, storage: true, schema }]
    await client.apply(
      CustomResourceDefinition,
      {
        metadata: { name: 'ships.real.example.com' },
        spec: { group: 'real.example.com', scope: 'Namespaced', names, versions },
      } as never,
      { fieldManager: 'real', force: true },
    )
    const ship = await eventually('the kind is served', () =>
      client.create(Ship, { metadata: { namespace, name: 'ship' } }),
    )
    const reference = {
      apiVersion: 'real.example.com/v1',
      kind: 'Ship',
      name: 'ship',
      uid: ship.metadata.uid,
    }
    await client.create(Secret, { metadata: { namespace, name: 'cargo', ownerReferences: [reference] } })
    await client.delete(Ship, { namespace, name: 'ship' })
    await eventually('the cargo is deleted', async () => {
      const found = await client.get(Secret, { namespace, name: 'cargo' })
      return found === undefined
    })
  })

  it('a namespace is emptied, says what holds it, and goes', async () => {
    const { client } = session
    const name = (await client.create(Namespace, { metadata: { generateName: 'gc-team-' } })).metadata.name
    await client.create(ConfigMap, {
      metadata: { namespace: name, name: 'a', finalizers: ['example.com/wait'] },
    })
    await client.create(Secret, { metadata: { namespace: name, name: 's' } })
    await client.delete(Namespace, { name })
    const waiting = await eventually('it says what holds it', async () => {
      const found = await client.get(Namespace, { name })
      const held = found?.status?.conditions?.find(({ type }) => type === 'NamespaceFinalizersRemaining')
      return held?.status === 'True' ? found : undefined
    })
    const messages = (waiting.status?.conditions ?? []).map(({ type, message }) => `${type}: ${message}`)
    assert.ok(
      messages.includes(
        'NamespaceContentRemaining: Some resources are remaining: configmaps. has 1 resource instances',
      ),
      messages.join('\n'),
    )
    assert.equal(await client.get(Secret, { namespace: name, name: 's' }), undefined)
    await client.patch(ConfigMap, { namespace: name, name: 'a' }, { metadata: { finalizers: null } })
    await eventually('it is deleted', async () => (await client.get(Namespace, { name })) === undefined)
  })
})
