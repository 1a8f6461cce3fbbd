import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { type RunningServer, startServer, type TestUser } from '../test-support/running-server.ts'
import { readBootstrapPolicy } from './bootstrap-policy.ts'

const group = 'rbac.authorization.k8s.io'
const base = `/apis/${group}/v1`
const jane: TestUser = { name: 'jane', groups: ['devs'] }

function roleOf(name: string, rules: readonly JsonObject[]): JsonObject {
  return { metadata: { name }, rules }
}

function bindingOf(name: string, role: string, subjects: readonly JsonObject[]): JsonObject {
  const [kind, roleName] = role.split('/')
  return { metadata: { name }, roleRef: { apiGroup: group, kind, name: roleName }, subjects }
}

const readPods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }
const user = (name: string): JsonObject => ({ kind: 'User', name })

/** Grants a rule to jane in the namespace default. */
async function grant(server: RunningServer, rule: JsonObject, name = 'r'): Promise<void> {
  const place = `${base}/namespaces/default`
  await server.write('PUT', `${place}/roles/${name}`, roleOf(name, [rule]))
  await server.write('PUT', `${place}/rolebindings/${name}`, bindingOf(name, `Role/${name}`, [user('jane')]))
}

const pods = '/api/v1/namespaces/default/pods'
const statusOf = async (server: RunningServer, method: string, url: string, who = jane) =>
  (await server.sendAs(who, method, url)).status

describe('roles and bindings', () => {
  it('allow what they name, where they are bound, and nothing else', async () => {
    await using server = await startServer()
    assert.equal(await statusOf(server, 'GET', pods), 403)
    await grant(server, readPods)
    assert.equal(await statusOf(server, 'GET', pods), 200)
    assert.equal(await statusOf(server, 'GET', `${pods}?watch=1&timeoutSeconds=1`), 403)
    assert.equal(await statusOf(server, 'DELETE', pods), 403)
    assert.equal(await statusOf(server, 'GET', '/api/v1/pods'), 403)
    assert.equal(await statusOf(server, 'GET', '/api/v1/namespaces/kube-system/pods'), 403)
    assert.equal(await statusOf(server, 'GET', `${pods}/a/log`), 403)
    assert.equal(await statusOf(server, 'GET', pods, { name: 'Jane' }), 403)
  })

  it('allow a list with a name selector where only that name is allowed', async () => {
    await using server = await startServer()
    await grant(server, {
      verbs: ['list', 'watch', 'deletecollection'],
      apiGroups: [''],
      resources: ['pods'],
      resourceNames: ['a'],
    })
    assert.equal(await statusOf(server, 'GET', `${pods}?fieldSelector=metadata.name%3Da`), 200)
    assert.equal(await statusOf(server, 'GET', `${pods}?fieldSelector=metadata.name%3Db`), 403)
    assert.equal(await statusOf(server, 'GET', `${pods}?fieldSelector=metadata.name!%3Da`), 403)
    assert.equal(await statusOf(server, 'GET', pods), 403)
    assert.equal(await statusOf(server, 'DELETE', `${pods}?fieldSelector=metadata.name%3Da`), 403)
    const { body } = await server.sendAs(jane, 'GET', `${pods}?fieldSelector=metadata.name%3Db`)
    assert.match(String(body.message), /^pods "b" is forbidden: User "jane" cannot list resource "pods"/)
  })

  it('give the binding as the reason, and the missing roles when none allows', async () => {
    await using server = await startServer()
    await grant(server, readPods)
    const review = async (spec: JsonObject) =>
      (await server.write('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })).status
    const resourceAttributes = { namespace: 'default', verb: 'get', resource: 'pods' }
    assert.deepEqual(await review({ user: 'jane', resourceAttributes }), {
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "r/default" of Role "r" to User "jane"',
    })
    const nonResourceAttributes = { verb: 'get', path: '/healthz' }
    assert.deepEqual(await review({ user: 'x', groups: ['system:unauthenticated'], nonResourceAttributes }), {
      allowed: true,
      reason:
        'RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole "system:public-info-viewer" to Group "system:unauthenticated"',
    })
    const account = { user: 'system:serviceaccount:kube-system:job-controller' }
    assert.deepEqual(
      await review({ ...account, resourceAttributes: { verb: 'list', group: 'batch', resource: 'jobs' } }),
      {
        allowed: true,
        reason:
          'RBAC: allowed by ClusterRoleBinding "system:controller:job-controller" of ClusterRole "system:controller:job-controller" to ServiceAccount "job-controller/kube-system"',
      },
    )
    await server.write(
      'POST',
      `${base}/clusterrolebindings`,
      bindingOf('b', 'ClusterRole/gone', [user('jane')]),
    )
    await server.write('DELETE', `${base}/namespaces/default/roles/r`)
    const { body } = await server.sendAs(jane, 'GET', pods)
    assert.equal(
      body.message,
      `pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default": RBAC: [clusterrole.${group} "gone" not found, role.${group} "r" not found]`,
    )
  })

  it('name the first subject that matches the user', async () => {
    await using server = await startServer()
    await server.write('POST', `${base}/clusterroles`, roleOf('r', [readPods]))
    const subjects = [{ kind: 'Group', name: 'ops' }, { kind: 'Group', name: 'devs' }, user('jane')]
    await server.write('POST', `${base}/clusterrolebindings`, bindingOf('b', 'ClusterRole/r', subjects))
    const spec = { user: 'jane', groups: ['devs'], resourceAttributes: { verb: 'get', resource: 'pods' } }
    const { status } = await server.write('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec,
    })
    assert.equal(
      (status as JsonObject).reason,
      'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "devs"',
    )
  })

  it('are listed in a SelfSubjectRulesReview, with the roles that were not found', async () => {
    await using server = await startServer()
    await grant(server, { ...readPods, resourceNames: ['a'] })
    await server.write(
      'POST',
      `${base}/clusterrolebindings`,
      bindingOf('b', 'ClusterRole/gone', [user('jane')]),
    )
    const url = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
    const { body } = await server.sendAs(jane, 'POST', url, { spec: { namespace: 'default' } })
    const { resourceRules, nonResourceRules, incomplete, evaluationError } = body.status as {
      resourceRules: JsonObject[]
      nonResourceRules: JsonObject[]
      incomplete: boolean
      evaluationError: string
    }
    assert.deepEqual(resourceRules.at(-1), { ...readPods, resourceNames: ['a'] })
    assert.equal(nonResourceRules.length, 2)
    assert.equal(incomplete, false)
    assert.equal(evaluationError, `clusterrole.${group} "gone" not found`)
  })

  it('stop applying with the response that deletes or changes them', async () => {
    await using server = await startServer()
    await grant(server, readPods)
    assert.equal(await statusOf(server, 'GET', pods), 200)
    await server.write('DELETE', `${base}/namespaces/default/rolebindings/r`)
    const before = server.world.clock.now()
    assert.equal(await statusOf(server, 'GET', pods), 403)
    await grant(server, readPods)
    assert.equal(await statusOf(server, 'GET', pods), 200)
    await grant(server, { ...readPods, verbs: ['get'] })
    assert.equal(await statusOf(server, 'GET', pods), 403)
    assert.ok(server.world.clock.now() - before < 10_000)
  })
})

describe('the bootstrap policy', () => {
  it('holds all roles and bindings of Kubernetes 1.36', () => {
    const policy = readBootstrapPolicy()
    const count = (kind: string) => policy.filter(object => object.kind === kind).length
    assert.deepEqual(['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'].map(count), [69, 50, 7, 7])
    const admin = policy.find(({ name }) => name === 'cluster-admin')
    assert.deepEqual(admin?.rules, [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ])
  })

  it('is restored at the next start: what is missing is added, additions stay', async () => {
    const world = new VirtualWorld()
    await using store = createMemoryStore({ env: world })
    const role = `${base}/clusterroles/system:basic-user`
    const binding = `${base}/clusterrolebindings/system:basic-user`
    const extra = { verbs: ['get'], apiGroups: [''], resources: ['x'] }
    const seen = await (async () => {
      await using server = await startServer({ env: world, store })
      const { rules } = (await server.write('GET', role)) as { rules: JsonObject[] }
      await server.write('PUT', role, { ...roleOf('system:basic-user', [rules[0]!, extra]) })
      await server.write(
        'PUT',
        binding,
        bindingOf('system:basic-user', 'ClusterRole/system:basic-user', [user('jane')]),
      )
      await server.write('DELETE', `${base}/clusterroles/view`)
      const untouched = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
      const edit = await server.write('GET', `${base}/clusterroles/system:heapster`)
      const metadata = { ...(edit.metadata as JsonObject), annotations: untouched }
      await server.write('PUT', `${base}/clusterroles/system:heapster`, { ...edit, metadata, rules: [] })
      return await server.write('GET', `${base}/clusterroles/system:node`)
    })()
    await using server = await startServer({ env: world, store })
    const { rules, metadata } = (await server.write('GET', role)) as {
      rules: JsonObject[]
      metadata: JsonObject
    }
    assert.deepEqual(rules, [
      {
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      extra,
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ])
    assert.deepEqual(metadata.labels, { 'kubernetes.io/bootstrapping': 'rbac-defaults' })
    const { subjects } = (await server.write('GET', binding)) as { subjects: JsonObject[] }
    assert.deepEqual(
      subjects.map(({ name }) => name),
      ['jane', 'system:authenticated'],
    )
    assert.equal((await server.write('GET', `${base}/clusterroles/view`)).rules, null)
    assert.equal((await server.write('GET', `${base}/clusterroles/system:heapster`)).rules, null)
    assert.deepEqual(await server.write('GET', `${base}/clusterroles/system:node`), seen)
  })

  it('replaces a binding of a default name that refers to another role', async () => {
    const world = new VirtualWorld()
    await using store = createMemoryStore({ env: world })
    const url = `${base}/clusterrolebindings/system:basic-user`
    await (async () => {
      await using server = await startServer({ env: world, store })
      await server.write('DELETE', url)
      await server.write('PUT', url, bindingOf('system:basic-user', 'ClusterRole/other', [user('jane')]))
    })()
    await using server = await startServer({ env: world, store })
    const { roleRef, subjects } = (await server.write('GET', url)) as {
      roleRef: JsonObject
      subjects: JsonObject[]
    }
    assert.equal(roleRef.name, 'system:basic-user')
    assert.deepEqual(
      subjects.map(({ name }) => name),
      ['system:authenticated'],
    )
  })
})
