import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { rbacAuthorizer, unionAuthorizer } from '../authorizer-factory.ts'
import { type RunningServer, startServer, type TestUser } from '../test-support/running-server.ts'
import { authorizePrivileged } from '../union.ts'
import { createNodeAuthorizer } from './node-authorizer.ts'

const one: TestUser = { name: 'system:node:one', groups: ['system:nodes'] }
const two: TestUser = { name: 'system:node:two', groups: ['system:nodes'] }
const inDefault = '/api/v1/namespaces/default'

/** Node `one` runs the Pod `p`, which refers to several objects; `two` runs nothing. */
async function startWithNodes(): Promise<RunningServer> {
  const server = await startServer({
    authorizer: unionAuthorizer([() => authorizePrivileged, createNodeAuthorizer, rbacAuthorizer]),
  })
  for (const name of ['one', 'two']) await server.write('POST', '/api/v1/nodes', { metadata: { name } })
  await server.write('POST', `${inDefault}/serviceaccounts`, { metadata: { name: 'default' } })
  for (const name of ['used', 'env', 'pull', 'other', 'volume'])
    await server.write('POST', `${inDefault}/secrets`, { metadata: { name } })
  await server.write('POST', '/api/v1/persistentvolumes', {
    metadata: { name: 'pv' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace: 'default', name: 'claim' },
      csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef: { namespace: 'default', name: 'volume' } },
    },
  })
  await server.write('POST', `${inDefault}/pods`, podOf('p', 'one'))
  return server
}

function podOf(name: string, nodeName: string, metadata: JsonObject = {}): JsonObject {
  return {
    metadata: { name, ...metadata },
    spec: {
      nodeName,
      imagePullSecrets: [{ name: 'pull' }],
      containers: [
        {
          name: 'c',
          image: 'i',
          env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } }],
        },
      ],
      volumes: [
        { name: 's', secret: { secretName: 'used' } },
        { name: 'c', persistentVolumeClaim: { claimName: 'claim' } },
      ],
    },
  }
}

describe('the node authorizer', () => {
  it('lets a node read what its pods refer to, and other nodes not', async () => {
    await using server = await startWithNodes()
    const statusOf = async (who: TestUser, url: string) => (await server.sendAs(who, 'GET', url)).status
    for (const name of ['used', 'env', 'pull', 'volume']) {
      assert.equal(await statusOf(one, `${inDefault}/secrets/${name}`), 200, name)
      assert.equal(await statusOf(two, `${inDefault}/secrets/${name}`), 403, name)
    }
    assert.equal(await statusOf(one, `${inDefault}/secrets/other`), 403)
    assert.equal(await statusOf(one, `${inDefault}/secrets`), 403)
    assert.equal(await statusOf(one, `${inDefault}/secrets?fieldSelector=metadata.name%3Dused`), 200)
    assert.equal(await statusOf(one, '/api/v1/persistentvolumes/pv'), 200)
    assert.equal(await statusOf(two, '/api/v1/persistentvolumes/pv'), 403)
    assert.equal(await statusOf(one, `${inDefault}/pods/p`), 200)
    assert.equal(await statusOf(two, `${inDefault}/pods/p`), 403)
  })

  it('revokes access to what a pod referred to when the pod is deleted', async () => {
    await using server = await startWithNodes()
    const url = `${inDefault}/secrets/used`
    assert.equal((await server.sendAs(one, 'GET', url)).status, 200)
    await server.write('DELETE', `${inDefault}/pods/p?gracePeriodSeconds=0`)
    const { status, body } = await server.sendAs(one, 'GET', url)
    assert.equal(status, 403)
    assert.match(String(body.message), /no relationship found between node 'one' and this object$/)
  })

  it('lets a node list its own pods and read its own node', async () => {
    await using server = await startWithNodes()
    const statusOf = async (url: string) => (await server.sendAs(one, 'GET', url)).status
    assert.equal(await statusOf('/api/v1/pods?fieldSelector=spec.nodeName%3Done'), 200)
    assert.equal(await statusOf('/api/v1/pods?fieldSelector=spec.nodeName%3Dtwo'), 403)
    assert.equal(await statusOf('/api/v1/pods?fieldSelector=spec.nodeName!%3Done'), 403)
    assert.equal(await statusOf('/api/v1/pods'), 403)
    assert.equal(await statusOf('/api/v1/nodes/one'), 200)
    assert.equal(await statusOf('/api/v1/nodes/two'), 403)
    assert.equal(await statusOf('/api/v1/services'), 200)
    assert.equal(await statusOf('/api/v1/namespaces/default/endpoints'), 403)
  })

  it('identifies nodes by user and group together', async () => {
    await using server = await startWithNodes()
    for (const who of [{ name: 'system:node:one' }, { name: 'one', groups: ['system:nodes'] }])
      assert.equal((await server.sendAs(who, 'GET', `${inDefault}/pods/p`)).status, 403)
  })
})

const lease = (name: string): JsonObject => ({ metadata: { name }, spec: { holderIdentity: name } })
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const merge = 'application/merge-patch+json'

describe('NodeRestriction', () => {
  it('limits a node to its own Node object, without its taints and owners', async () => {
    await using server = await startWithNodes()
    const patch = async (url: string, body: unknown) =>
      (await server.sendAs(one, 'PATCH', url, body, merge)).status
    assert.equal(await patch('/api/v1/nodes/one', { metadata: { labels: { 'example.com/a': 'b' } } }), 200)
    assert.equal(await patch('/api/v1/nodes/two', { metadata: { labels: { 'example.com/a': 'b' } } }), 403)
    assert.equal(
      await patch('/api/v1/nodes/one', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }),
      403,
    )
    const restricted = { 'node-restriction.kubernetes.io/a': 'b' }
    assert.equal(await patch('/api/v1/nodes/one', { metadata: { labels: restricted } }), 403)
    assert.equal(
      await patch('/api/v1/nodes/one', { metadata: { labels: { 'kubernetes.io/role': 'x' } } }),
      403,
    )
    assert.equal(
      await patch('/api/v1/nodes/one', { metadata: { labels: { 'kubernetes.io/os': 'linux' } } }),
      200,
    )
  })

  it('does not let a node delete itself with an owner reference (CVE-2025-5187)', async () => {
    await using server = await startWithNodes()
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u' }]
    const { status, body } = await server.sendAs(
      one,
      'PATCH',
      '/api/v1/nodes/one',
      { metadata: { ownerReferences } },
      merge,
    )
    assert.equal(status, 403)
    assert.match(String(body.message), /node "one" is not allowed to modify ownerReferences$/)
  })

  it('lets a node create only mirror pods without references (CVE-2025-4563)', async () => {
    await using server = await startWithNodes()
    const { metadata } = (await server.write('GET', '/api/v1/nodes/one')) as { metadata: { uid: string } }
    const mirror = (extra: JsonObject): JsonObject => ({
      metadata: {
        name: 'm',
        annotations: { 'kubernetes.io/config.mirror': 'x' },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Node', name: 'one', uid: metadata.uid, controller: true },
        ],
      },
      spec: { nodeName: 'one', containers: [{ name: 'c', image: 'i' }], ...extra },
    })
    const create = async (body: JsonObject) =>
      await server.sendAs(one, 'POST', `${inDefault}/pods?dryRun=All`, body)
    const plain = await create(mirror({}))
    assert.equal(plain.status, 201, JSON.stringify(plain.body))
    const refusals: readonly [JsonObject, RegExp][] = [
      [
        mirror({ resourceClaims: [{ name: 'r', resourceClaimName: 'x' }] }),
        /can not create pods that reference resourceclaims/,
      ],
      [
        mirror({ volumes: [{ name: 's', secret: { secretName: 'used' } }] }),
        /can not create pods that reference secrets/,
      ],
      [mirror({ serviceAccountName: 'default' }), /can not create pods that reference serviceaccounts/],
      [mirror({ nodeName: 'two' }), /can only create pods with spec\.nodeName set to itself/],
      [podOf('x', 'one'), /can only create mirror pods/],
    ]
    for (const [body, message] of refusals) {
      const answer = await create(body)
      assert.equal(answer.status, 403)
      assert.match(String(answer.body.message), message)
    }
  })

  it('limits a node to its own leases and pods', async () => {
    await using server = await startWithNodes()
    assert.equal((await server.sendAs(one, 'POST', leases, lease('one'))).status, 201)
    assert.equal((await server.sendAs(one, 'POST', leases, lease('two'))).status, 403)
    const status = { status: { phase: 'Running' } }
    assert.equal((await server.sendAs(one, 'PATCH', `${inDefault}/pods/p/status`, status, merge)).status, 200)
    assert.equal((await server.sendAs(two, 'PATCH', `${inDefault}/pods/p/status`, status, merge)).status, 403)
    assert.equal((await server.sendAs(two, 'DELETE', `${inDefault}/pods/p`)).status, 403)
  })
})
