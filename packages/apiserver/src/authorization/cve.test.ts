/** Authorization vulnerabilities of other API servers; one test each. Those of nodes are in node/node.test.ts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { type RunningServer, startServer, type TestUser } from './test-support/running-server.ts'

const group = 'rbac.authorization.k8s.io'
const base = `/apis/${group}/v1`
const jane: TestUser = { name: 'jane' }

async function define(server: RunningServer, plural: string, kind: string, scope: string): Promise<void> {
  const name = `${plural}.example.com`
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { secret: { type: 'string' } } } },
    },
  }
  await server.write('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name },
    spec: {
      group: 'example.com',
      names: { plural, kind },
      scope,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  for (let tries = 0; tries < 50; tries++) {
    const found = await server.sendAs(
      { name: 'admin', groups: ['system:masters'] },
      'GET',
      `/apis/example.com/v1/${plural}`,
    )
    if (found.status === 200) return
    await server.world.run(server.world.clock.sleep(100))
  }
  throw new Error(`${name} is not served`)
}

const object = (kind: string, name: string): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind,
  metadata: { name },
  spec: { secret: 'hidden' },
})

/** Lets jane do everything with these resources of example.com in the namespace default. */
async function grantInDefault(server: RunningServer, ...resources: string[]): Promise<void> {
  const place = `${base}/namespaces/default`
  const rules = [{ verbs: ['*'], apiGroups: ['example.com', ''], resources }]
  await server.write('POST', `${place}/roles`, { metadata: { name: 'r' }, rules })
  await server.write('POST', `${place}/rolebindings`, {
    metadata: { name: 'r' },
    roleRef: { apiGroup: group, kind: 'Role', name: 'r' },
    subjects: [{ kind: 'User', name: 'jane' }],
  })
}

describe('known authorization vulnerabilities', () => {
  it('CVE-2019-11247: a role of a namespace grants no access to cluster-scoped objects through that namespace', async () => {
    await using server = await startServer()
    await define(server, 'harbors', 'Harbor', 'Cluster')
    await server.write('POST', '/apis/example.com/v1/harbors', object('Harbor', 'a'))
    await grantInDefault(server, 'harbors')
    const inside = '/apis/example.com/v1/namespaces/default/harbors'
    assert.equal((await server.sendAs(jane, 'GET', '/apis/example.com/v1/harbors/a')).status, 403)
    for (const [method, url] of [
      ['GET', `${inside}/a`],
      ['GET', inside],
      ['DELETE', `${inside}/a`],
    ] as const) {
      const { status, body } = await server.sendAs(jane, method, url)
      assert.equal(status, 404, `${method} ${url}`)
      assert.ok(!JSON.stringify(body).includes('hidden'))
    }
  })

  it('CVE-2022-3162: dots in a path lead to no other kind and no other namespace', async () => {
    await using server = await startServer()
    await define(server, 'ships', 'Ship', 'Namespaced')
    await define(server, 'harbors', 'Harbor', 'Cluster')
    await server.write('POST', '/apis/example.com/v1/harbors', object('Harbor', 'a'))
    await server.write('POST', '/apis/example.com/v1/namespaces/kube-system/ships', object('Ship', 'b'))
    await grantInDefault(server, 'ships')
    const ships = '/apis/example.com/v1/namespaces/default/ships'
    assert.equal((await server.sendAs(jane, 'GET', ships)).status, 200)
    for (const url of [
      `${ships}/..%2f..%2fharbors%2fa`,
      `${ships}/%2e%2e/%2e%2e/harbors/a`,
      `${ships}/../../kube-system/ships/b`,
      `${ships}/%2e%2e%2f%2e%2e%2fkube-system%2fships%2fb`,
      '/apis/example.com/v1/namespaces/default%2f..%2fkube-system/ships/b',
      '/apis/example.com/v1/namespaces/../ships',
      '/apis/example.com/v1/namespaces/%2e%2e/ships',
      `${ships}/..`,
      `${ships}/%2e`,
    ]) {
      const { status, body } = await server.sendAs(jane, 'GET', url)
      assert.ok(status >= 400 && status < 500, `${url}: ${status}`)
      assert.ok(!JSON.stringify(body).includes('hidden'), url)
    }
  })

  it('an escaped path is authorized as it is served', async () => {
    await using server = await startServer()
    await grantInDefault(server, 'pods')
    const secrets = '/api/v1/namespaces/default/secrets'
    await server.write('POST', secrets, { metadata: { name: 's' }, stringData: { k: 'hidden' } })
    for (const url of [
      '/api/v1/namespaces/default/%73ecrets/s',
      '/api/v1/namespaces/default/pods%2f..%2fsecrets/s',
      '/api/v1//namespaces/default/secrets/s',
      '/%61pi/v1/namespaces/default/secrets/s',
      '/healthz/../api/v1/namespaces/default/secrets/s',
      '/healthz%2f..%2fapi/v1/namespaces/default/secrets/s',
    ]) {
      const { status } = await server.sendAs(jane, 'GET', url)
      assert.equal(status, 403, url)
    }
    assert.equal((await server.sendAs(jane, 'GET', '/api/v1/namespaces/default/%70ods')).status, 200)
  })
})
