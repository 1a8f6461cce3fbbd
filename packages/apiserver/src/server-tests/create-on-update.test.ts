import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startServer, type TestUser } from '../authorization/test-support/running-server.ts'

const jane: TestUser = { name: 'jane' }
const group = 'rbac.authorization.k8s.io'
const applyType = 'application/apply-patch+yaml'

/** A server on which jane may use these verbs on ConfigMaps and Leases. */
async function startWith(...verbs: string[]) {
  const server = await startServer()
  const resources = ['configmaps', 'leases']
  await server.write('POST', `/apis/${group}/v1/clusterroles`, {
    metadata: { name: 'jane' },
    rules: [{ verbs, apiGroups: ['', 'coordination.k8s.io'], resources }],
  })
  await server.write('POST', `/apis/${group}/v1/clusterrolebindings`, {
    metadata: { name: 'jane' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'jane' },
    subjects: [{ kind: 'User', name: 'jane' }],
  })
  return server
}

const map = '/api/v1/namespaces/default/configmaps/a'
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1' } }
const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/a'

describe('a write that creates an object', () => {
  it('needs the right to create it, beside that to patch it', async () => {
    await using server = await startWith('get', 'patch')
    const apply = (data: object) =>
      server.sendAs(jane, 'PATCH', `${map}?fieldManager=jane`, { ...object, data }, applyType)
    const refused = await apply({ x: '1' })
    assert.equal(refused.status, 403)
    assert.equal(refused.body.reason, 'Forbidden')
    assert.match(refused.body.message ?? '', /^configmaps "a" is forbidden: /)
    assert.equal((await server.sendAs(jane, 'GET', map)).status, 404)
    await server.write('POST', '/api/v1/namespaces/default/configmaps', object)
    assert.equal((await apply({ y: '2' })).status, 200)
  })

  it('needs the right to create it, beside that to update it', async () => {
    const leaseObject = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' } }
    await using server = await startWith('update')
    assert.equal((await server.sendAs(jane, 'PUT', lease, leaseObject)).status, 403)
    await using other = await startWith('update', 'create')
    assert.equal((await other.sendAs(jane, 'PUT', lease, leaseObject)).status, 201)
  })
})
