import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestServer } from '../test-support/token-server.ts'

/** Kinds, fields and components that only a cluster with Pods has. */
const podWords =
  /\b(pods?|nodes?|kubelets?|kube-scheduler|containers?|deployments|services|persistentvolumeclaims|endpoints)\b/i

const namesOf = (list: { items: readonly { metadata: { name: string; namespace?: string } }[] }) =>
  list.items.map(({ metadata: { name, namespace } }) => (namespace ? `${namespace}/${name}` : name))

describe('a server of generic kinds', () => {
  it('has no Pod, and nothing that knows one, in discovery and OpenAPI', async () => {
    await using server = await startTestServer({ kinds: ['generic'] })
    const core = await server.send('GET', '/api/v1')
    const names = core.body.resources.map(({ name }: { name: string }) => name)
    assert.deepEqual(
      names.filter((name: string) => !name.includes('/')),
      ['configmaps', 'events', 'namespaces', 'resourcequotas', 'secrets', 'serviceaccounts'],
    )
    const groups = await server.send('GET', '/apis')
    assert.equal(groups.body.groups.length, 9)
    assert.doesNotMatch(JSON.stringify(groups.body), podWords)
    assert.equal((await server.send('GET', '/api/v1/pods')).status, 404)
    assert.equal((await server.send('GET', '/apis/apps/v1')).status, 404)
    assert.equal((await server.send('GET', '/apis/metrics.k8s.io/v1beta1/pods')).status, 404)
    const { paths, definitions } = (await server.send('GET', '/openapi/v2')).body
    assert.ok(Object.keys(paths).length > 100)
    assert.doesNotMatch(Object.keys(paths).join(' '), podWords)
    assert.deepEqual(
      Object.keys(definitions).filter(name => /\.(Pod|Node|Container|Service|Deployment)[A-Z]?/.test(name)),
      // How webhooks and APIServices name a Service; the name of a claim to be the leader.
      Object.keys(definitions).filter(name => /\.ServiceAccount|\.ServiceReference$/.test(name)),
    )
  })

  it('has no roles, priority levels, namespaces or APIServices for them', async () => {
    await using server = await startTestServer({ kinds: ['generic'] })
    const list = async (path: string) => (await server.send('GET', path)).body
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    const roles = await list(`${rbac}/clusterroles`)
    assert.ok(roles.items.length > 15, namesOf(roles).join())
    const flows = '/apis/flowcontrol.apiserver.k8s.io/v1'
    for (const path of [
      `${rbac}/clusterroles`,
      `${rbac}/clusterrolebindings`,
      `${rbac}/roles`,
      `${rbac}/rolebindings`,
      `${flows}/prioritylevelconfigurations`,
      '/api/v1/namespaces',
      '/api/v1/configmaps',
      '/apis/apiregistration.k8s.io/v1/apiservices',
    ])
      for (const object of (await list(path)).items)
        assert.doesNotMatch(JSON.stringify(withoutSubjects(object)), podWords)
    assert.deepEqual(namesOf(await list('/api/v1/namespaces')), ['default', 'kube-public', 'kube-system'])
    for (const name of [
      'admin',
      'edit',
      'view',
      'cluster-admin',
      'system:auth-delegator',
      'system:discovery',
    ])
      assert.ok(namesOf(roles).includes(name), name)
    const schemas = namesOf(await list(`${flows}/flowschemas`))
    assert.ok(
      schemas.includes('global-default') && !schemas.some(name => /node|scheduler/.test(name)),
      schemas.join(),
    )
  })

  it('serves custom resources, RBAC and namespaces as the full one does', async () => {
    await using server = await startTestServer({ kinds: ['generic'] })
    const labels = { 'pod-security.kubernetes.io/enforce': 'nonsense' }
    // No plug-in knows what the label would mean.
    await server.create('/api/v1/namespaces', { metadata: { name: 'shop', labels } })
    await server.create('/api/v1/namespaces/shop/configmaps', { metadata: { name: 'a' } })
    const peer = { commonName: 'jane', organizations: [], notAfter: Number.MAX_SAFE_INTEGER }
    const answer = await server.send('GET', '/api/v1/namespaces/shop/configmaps', { peer })
    assert.equal(answer.status, 403)
  })
})

describe('a server of listed kinds', () => {
  it('serves those and namespaces, and enforces RBAC without serving it', async () => {
    await using server = await startTestServer({ kinds: ['configmaps', 'pods'] })
    const core = await server.send('GET', '/api/v1')
    const names = core.body.resources.map(({ name }: { name: string }) => name.split('/')[0])
    assert.deepEqual([...new Set(names)], ['configmaps', 'namespaces', 'pods'])
    assert.deepEqual((await server.send('GET', '/apis')).body.groups, [])
    assert.equal((await server.send('GET', '/apis/rbac.authorization.k8s.io/v1/roles')).status, 404)
    await server.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } })
    const containers = [{ name: 'main', image: 'nginx' }]
    // The plug-in that mounts service accounts needs Pods only, and there is no account.
    const pod = { metadata: { name: 'a' }, spec: { containers } }
    assert.equal((await server.send('POST', '/api/v1/namespaces/default/pods', { body: pod })).status, 403)
    const peer = { commonName: 'jane', organizations: [], notAfter: Number.MAX_SAFE_INTEGER }
    assert.equal((await server.send('GET', '/api/v1/configmaps', { peer })).status, 403)
    assert.equal((await server.send('GET', '/version', { peer })).status, 200)
  })

  it('does not start with a kind that does not exist', async () => {
    await assert.rejects(startTestServer({ kinds: ['pizzas'] }), { message: /unknown kind "pizzas"/ })
  })
})

/** Users of components may be named in bindings that others share. */
function withoutSubjects(object: { subjects?: unknown }): unknown {
  const { subjects: _, ...rest } = object
  return rest
}
