import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Deployment } from '@coxswain/api/apps/v1'
import { ConfigMap, Pod, ServiceAccount } from '@coxswain/api/core/v1'
import { isAlreadyExists, isConflict, isInvalid } from '@coxswain/apimachinery/status'
import { createDiscovery, metadataOf, retryOnConflict, waitFor } from '@coxswain/client'
import { eventually, type Session, startSession } from './session.ts'

describe('the client, against a real server', () => {
  let session: Session
  before(async () => {
    session = await startSession('client')
  })
  after(() => session[Symbol.asyncDispose]())

  it('creates, reads, updates and deletes, and a miss is a value', async () => {
    const { client, namespace } = session
    const key = { namespace, name: 'a' }
    assert.equal(await client.get(ConfigMap, key), undefined)
    const made = await client.create(ConfigMap, { metadata: key, data: { x: '1' } })
    await assert.rejects(client.create(ConfigMap, { metadata: key }), isAlreadyExists)
    const changed = await client.update(ConfigMap, { ...made, data: { x: '2' } })
    await assert.rejects(client.update(ConfigMap, { ...made, data: { x: '3' } }), isConflict)
    assert.deepEqual((await client.get(ConfigMap, key))?.data, { x: '2' })
    assert.ok(BigInt(changed.metadata.resourceVersion) > BigInt(made.metadata.resourceVersion))
    assert.equal((await client.delete(ConfigMap, key))?.uid, made.metadata.uid)
    assert.equal(await client.delete(ConfigMap, key), undefined)
  })

  it('knows the four patches, dry runs and conflicts of apply', async () => {
    const { client, namespace } = session
    const key = { namespace, name: 'deploy' }
    const labels = { app: 'web' }
    const spec = {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
    }
    await client.apply(Deployment, { metadata: key, spec }, { fieldManager: 'one' })
    const scaled = await client.patch(Deployment, key, { spec: { replicas: 2 } }, { type: 'merge' })
    assert.equal(scaled.spec?.replicas, 2)
    const json = [{ op: 'replace', path: '/spec/replicas', value: 3 }]
    assert.equal((await client.patch(Deployment, key, json, { type: 'json' })).spec?.replicas, 3)
    const container = { spec: { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } } }
    const patched = await client.patch(Deployment, key, container, { type: 'strategic' })
    assert.equal(patched.spec?.template.spec?.containers[0]?.image, 'i:2')
    const mine = { metadata: key, spec: { ...spec, replicas: 9 } }
    await assert.rejects(client.apply(Deployment, mine, { fieldManager: 'two' }), isConflict)
    const dry = await client.apply(Deployment, mine, { fieldManager: 'two', force: true, dryRun: true })
    assert.equal(dry.spec?.replicas, 9)
    assert.equal((await client.get(Deployment, key))?.spec?.replicas, 3)
    const scale = await client.subresource(Deployment, key, 'scale').get<{ spec: { replicas: number } }>()
    assert.equal(scale?.spec.replicas, 3)
  })

  it('lists page by page, and watches on from there', async () => {
    const { client, namespace } = session
    for (let index = 0; index < 7; index++) {
      await client.create(ConfigMap, {
        metadata: { namespace, name: `page-${index}`, labels: { page: 'yes' } },
      })
    }
    const options = { namespace, labelSelector: 'page=yes' }
    const names = await Array.fromAsync(
      client.listAll(ConfigMap, { ...options, limit: 3 }),
      ({ metadata }) => metadata.name,
    )
    assert.equal(names.length, 7)
    const { metadata } = await client.list(ConfigMap, options)
    const seen: string[] = []
    const watching = (async () => {
      for await (const event of client.watch(ConfigMap, {
        ...options,
        resourceVersion: metadata.resourceVersion!,
      })) {
        if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.metadata.name}`)
        if (seen.length === 2) return
      }
    })()
    await client.patch(ConfigMap, { namespace, name: 'page-0' }, { data: { x: '1' } })
    await client.delete(ConfigMap, { namespace, name: 'page-1' })
    await watching
    assert.deepEqual(seen, ['MODIFIED page-0', 'DELETED page-1'])
  })

  it('streams the present state as the beginning of a watch', async () => {
    const { client, namespace } = session
    const types: string[] = []
    for await (const { type, object } of client.watch(ConfigMap, { namespace, sendInitialEvents: true })) {
      types.push(type)
      if (object.metadata.annotations?.['k8s.io/initial-events-end']) break
    }
    assert.equal(types.at(-1), 'BOOKMARK')
    assert.ok(types.length > 1)
  })

  it('asks for metadata alone, finds kinds by name, and waits for conditions', async () => {
    const { client, env, namespace } = session
    await client.create(ConfigMap, { metadata: { namespace, name: 'meta' }, data: { big: 'x' } })
    const meta = await client.get(metadataOf(ConfigMap), { namespace, name: 'meta' })
    assert.equal(meta?.kind, 'PartialObjectMetadata')
    assert.equal('data' in meta!, false)
    const discovery = createDiscovery(client)
    assert.equal((await discovery.kindForResource({ resource: 'deploy' })).kind, 'Deployment')
    assert.deepEqual([...(await discovery.failures())], [])
    const target = { kind: ConfigMap, key: { namespace, name: 'meta' } }
    const waiting = waitFor(client, env, target, map => map?.data?.done === 'yes')
    await client.patch(ConfigMap, { namespace, name: 'meta' }, { data: { done: 'yes' } })
    await waiting
  })

  it('repeats a change that meets a conflict', async () => {
    const { client, env, namespace } = session
    const key = { namespace, name: 'busy' }
    await client.create(ConfigMap, { metadata: key, data: { count: '0' } })
    const increment = () =>
      retryOnConflict(
        env,
        async () => {
          const map = (await client.get(ConfigMap, key))!
          await client.update(ConfigMap, { ...map, data: { count: String(Number(map.data!.count) + 1) } })
        },
        { tries: 20 },
      )
    await Promise.all(Array.from({ length: 5 }, increment))
    assert.equal((await client.get(ConfigMap, key))?.data?.count, '5')
  })

  it('reaches subresources of pods, and tells what is invalid', async () => {
    const { client, namespace } = session
    await eventually('an account', () => client.get(ServiceAccount, { namespace, name: 'default' }))
    const metadata = { namespace, name: 'pod' }
    await assert.rejects(client.create(Pod, { metadata, spec: { containers: [] } }), isInvalid)
    await client.create(Pod, { metadata, spec: { containers: [{ name: 'c', image: 'i' }] } })
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata }
    await client.subresource(Pod, metadata, 'eviction').create(eviction)
    await eventually('it is deleted', async () => (await client.get(Pod, metadata)) === undefined)
    const token = await client
      .subresource(ServiceAccount, { namespace, name: 'default' }, 'token')
      .create<{ status: { token: string } }>({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: 600 },
      })
    assert.match(token.status.token, /^ey/)
  })
})
