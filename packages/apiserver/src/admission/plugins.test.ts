import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport } from '@coxswain/wire'
import { createApiServer } from '../server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const inDefault = '/api/v1/namespaces/default'

async function start() {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const server = createApiServer({ env: world, store })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const transport = createInProcessTransport(server.handler, world, { peer: admin })
  const send = async (method: string, path: string, body?: unknown) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const answer = await world.run(
      transport.send({
        method,
        path,
        query: '',
        headers: { 'content-type': type },
        signal: group.signal,
        ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
      }),
    )
    return { status: answer.status, body: JSON.parse(new TextDecoder().decode(answer.body as Uint8Array)) }
  }
  const create = async (path: string, body: unknown) => {
    const answer = await send('POST', path, body)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
  await create(`${inDefault}/serviceaccounts`, { metadata: { name: 'default' } })
  return {
    world,
    send,
    create,
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}

const pod = (name: string, resources = {}, spec = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources }], ...spec },
})
const claim = (name: string, storage: string) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
})

describe('LimitRanger', () => {
  it('sets default resources of containers, and records it in an annotation', async () => {
    await using server = await start()
    const limit = {
      type: 'Container',
      default: { cpu: '1' },
      defaultRequest: { cpu: '500m' },
      max: { cpu: '2' },
    }
    await server.create(`${inDefault}/limitranges`, { metadata: { name: 'l' }, spec: { limits: [limit] } })
    const { metadata, spec } = await server.create(`${inDefault}/pods`, pod('p'))
    assert.deepEqual(spec.containers[0].resources, { limits: { cpu: '1' }, requests: { cpu: '500m' } })
    assert.equal(
      metadata.annotations['kubernetes.io/limit-ranger'],
      'LimitRanger plugin set: cpu request for container c; cpu limit for container c',
    )
    const refused = await server.send('POST', `${inDefault}/pods`, pod('q', { limits: { cpu: '3' } }))
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /maximum cpu usage per Container is 2, but limit is 3/)
  })
})

describe('ResourceQuota', () => {
  const quotas = `${inDefault}/resourcequotas`
  async function setQuota(server: Awaited<ReturnType<typeof start>>, hard: object, used: object) {
    await server.create(quotas, { metadata: { name: 'q' }, spec: { hard } })
    const answer = await server.send('PATCH', `${quotas}/q/status`, { status: { hard, used } })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
  }

  it('counts new objects and rejects those over the quota', async () => {
    await using server = await start()
    await setQuota(server, { 'count/configmaps': '1' }, { 'count/configmaps': '0' })
    await server.create(`${inDefault}/configmaps`, { metadata: { name: 'a' } })
    const quota = await server.send('GET', `${quotas}/q`)
    assert.deepEqual(quota.body.status.used, { 'count/configmaps': '1' })
    const refused = await server.send('POST', `${inDefault}/configmaps`, { metadata: { name: 'b' } })
    assert.equal(
      refused.body.message,
      'configmaps "b" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1',
    )
  })

  it('requires containers to specify resources that a quota counts', async () => {
    await using server = await start()
    await setQuota(server, { 'requests.cpu': '1' }, { 'requests.cpu': '0' })
    const refused = await server.send('POST', `${inDefault}/pods`, pod('p'))
    assert.match(refused.body.message, /failed quota: q: must specify requests.cpu for: c$/)
    await server.create(`${inDefault}/pods`, pod('p', { requests: { cpu: '600m' } }))
    const second = await server.send('POST', `${inDefault}/pods`, pod('o', { requests: { cpu: '600m' } }))
    assert.match(
      second.body.message,
      /requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1$/,
    )
  })

  it('charges a claim for its growth', async () => {
    await using server = await start()
    const storageClass = { metadata: { name: 'sc' }, provisioner: 'p', allowVolumeExpansion: true }
    await server.create('/apis/storage.k8s.io/v1/storageclasses', storageClass)
    await setQuota(server, { 'requests.storage': '3Gi' }, { 'requests.storage': '0' })
    const object = claim('c', '1Gi')
    await server.create(`${inDefault}/persistentvolumeclaims`, {
      ...object,
      spec: { ...object.spec, storageClassName: 'sc' },
    })
    const path = `${inDefault}/persistentvolumeclaims/c`
    const bound = { status: { phase: 'Bound', capacity: { storage: '1Gi' } } }
    assert.equal((await server.send('PATCH', `${path}/status`, bound)).status, 200)
    const grow = (storage: string) =>
      server.send('PATCH', path, { spec: { resources: { requests: { storage } } } })
    assert.equal((await grow('3Gi')).status, 200)
    assert.equal((await server.send('GET', `${quotas}/q`)).body.status.used['requests.storage'], '3Gi')
    assert.match((await grow('4Gi')).body.message, /exceeded quota: q, requested: requests.storage=1Gi/)
  })
})

describe('storage plug-ins', () => {
  it('give a claim the newest default class and a finalizer', async () => {
    await using server = await start()
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
    await server.create('/apis/storage.k8s.io/v1/storageclasses', {
      metadata: { name: 'sc', annotations },
      provisioner: 'p',
    })
    const { metadata, spec } = await server.create(`${inDefault}/persistentvolumeclaims`, claim('c', '1Gi'))
    assert.equal(spec.storageClassName, 'sc')
    assert.deepEqual(metadata.finalizers, ['kubernetes.io/pvc-protection'])
  })

  it('let only bound claims grow whose class allows it', async () => {
    await using server = await start()
    await server.create(`${inDefault}/persistentvolumeclaims`, claim('c', '1Gi'))
    const path = `${inDefault}/persistentvolumeclaims/c`
    const bound = { status: { phase: 'Bound', capacity: { storage: '1Gi' } } }
    await server.send('PATCH', `${path}/status`, bound)
    const refused = await server.send('PATCH', path, {
      spec: { resources: { requests: { storage: '2Gi' } } },
    })
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /only dynamically provisioned pvc can be resized/)
  })
})

describe('TaintNodesByCondition', () => {
  it('taints a new node until it was found ready', async () => {
    await using server = await start()
    const { spec } = await server.create('/api/v1/nodes', { metadata: { name: 'n' } })
    assert.deepEqual(spec.taints, [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }])
  })
})

describe('RuntimeClass', () => {
  it('adds the overhead and the node selector of the class', async () => {
    await using server = await start()
    await server.create('/apis/node.k8s.io/v1/runtimeclasses', {
      metadata: { name: 'r' },
      handler: 'h',
      overhead: { podFixed: { cpu: '100m' } },
      scheduling: { nodeSelector: { a: 'b' } },
    })
    const { spec } = await server.create(`${inDefault}/pods`, pod('p', {}, { runtimeClassName: 'r' }))
    assert.deepEqual(spec.overhead, { cpu: '100m' })
    assert.deepEqual(spec.nodeSelector, { a: 'b' })
    const odd = await server.send('POST', `${inDefault}/pods`, pod('q', {}, { runtimeClassName: 'none' }))
    assert.equal(odd.body.message, 'pods "q" is forbidden: pod rejected: RuntimeClass "none" not found')
  })
})

describe('Priority', () => {
  it('protects the system classes, and allows one default class', async () => {
    await using server = await start()
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses'
    assert.equal((await server.send('DELETE', `${classes}/system-node-critical`)).status, 403)
    await server.create(classes, { metadata: { name: 'a' }, value: 1, globalDefault: true })
    const second = await server.send('POST', classes, {
      metadata: { name: 'b' },
      value: 2,
      globalDefault: true,
    })
    assert.match(second.body.message, /PriorityClass a is already marked as default/)
  })

  it('names a Pod with generateName by its prefix', async () => {
    await using server = await start()
    const refused = await server.send('POST', '/api/v1/namespaces/default/pods', {
      metadata: { generateName: 'web-' },
      spec: { priorityClassName: 'nothing', containers: [{ name: 'c', image: 'i' }] },
    })
    assert.equal(refused.status, 403)
    assert.equal(
      refused.body.message,
      'pods "web-" is forbidden: no PriorityClass with name nothing was found',
    )
  })
})
