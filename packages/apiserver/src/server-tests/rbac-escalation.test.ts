import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import {
  type RunningServer,
  startServer,
  type TestUser,
} from '../authorization/test-support/running-server.ts'

const group = 'rbac.authorization.k8s.io'
const base = `/apis/${group}/v1`
const roles = `${base}/namespaces/default/roles`
const bindings = `${base}/namespaces/default/rolebindings`
const jane: TestUser = { name: 'jane', groups: ['devs'] }

const writeRbac = {
  verbs: ['get', 'create', 'update', 'patch'],
  apiGroups: [group],
  resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
}
const getMaps = { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }
const getSecrets = { verbs: ['get', 'list'], apiGroups: [''], resources: ['secrets'] }

/** A server on which jane may write roles and bindings, and has the permissions of `rules`. */
async function startWith(...rules: JsonObject[]): Promise<RunningServer> {
  const server = await startServer()
  await server.write('POST', `${base}/clusterroles`, {
    metadata: { name: 'jane' },
    rules: [writeRbac, ...rules],
  })
  await server.write('POST', `${base}/clusterrolebindings`, {
    metadata: { name: 'jane' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'jane' },
    subjects: [{ kind: 'User', name: 'jane' }],
  })
  return server
}

const bindingTo = (kind: string, name: string): JsonObject => ({
  metadata: { name: 'b' },
  roleRef: { apiGroup: group, kind, name },
  subjects: [{ kind: 'User', name: 'joe' }],
})

describe('a user who writes roles', () => {
  it('cannot grant more than their own permissions', async () => {
    await using server = await startWith(getMaps)
    const own = await server.sendAs(jane, 'POST', roles, { metadata: { name: 'own' }, rules: [getMaps] })
    assert.equal(own.status, 201)
    const more = await server.sendAs(jane, 'POST', roles, {
      metadata: { name: 'more' },
      rules: [getMaps, getSecrets],
    })
    assert.equal(more.status, 403)
    assert.equal(
      more.body.message,
      `roles.${group} "more" is forbidden: user "jane" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`,
    )
  })

  it('gets every missing rule in the error, and the roles that could not be resolved', async () => {
    await using server = await startWith(getMaps)
    await server.write('POST', `${base}/clusterrolebindings`, {
      ...bindingTo('ClusterRole', 'gone'),
      subjects: [{ kind: 'User', name: 'jane' }],
    })
    const rules = [
      { verbs: ['get', 'post'], nonResourceURLs: ['/a', '/b/*'] },
      { verbs: ['get'], apiGroups: [''], resources: ['nodes'], resourceNames: ['a', 'b'] },
    ]
    const { body } = await server.sendAs(jane, 'POST', `${base}/clusterroles`, {
      metadata: { name: 'r' },
      rules,
    })
    assert.deepEqual(String(body.message).split('\n').slice(1), [
      '{APIGroups:[""], Resources:["nodes"], ResourceNames:["a"], Verbs:["get"]}',
      '{APIGroups:[""], Resources:["nodes"], ResourceNames:["b"], Verbs:["get"]}',
      '{NonResourceURLs:["/a"], Verbs:["get"]}',
      '{NonResourceURLs:["/a"], Verbs:["post"]}',
      '{NonResourceURLs:["/b/*"], Verbs:["get"]}',
      `{NonResourceURLs:["/b/*"], Verbs:["post"]}; resolution errors: [clusterroles.${group} "gone" not found]`,
    ])
  })

  it("cannot add rules by update or patch, but may make the garbage collector's changes", async () => {
    await using server = await startWith(getMaps)
    await server.write('POST', roles, { metadata: { name: 'big' }, rules: [getSecrets] })
    const patch = (body: unknown) =>
      server.sendAs(jane, 'PATCH', `${roles}/big`, body, 'application/merge-patch+json')
    assert.equal((await patch({ rules: [getSecrets, getMaps] })).status, 403)
    assert.equal((await patch({ metadata: { labels: { a: 'b' } } })).status, 403)
    assert.equal((await patch({ metadata: { finalizers: ['example.com/a'] } })).status, 200)
    assert.equal((await patch({ rules: [getMaps] })).status, 200)
  })

  it('may grant everything with permission to escalate', async () => {
    await using server = await startWith({ verbs: ['escalate'], apiGroups: [group], resources: ['roles'] })
    const body = { metadata: { name: 'big' }, rules: [getSecrets] }
    assert.equal((await server.sendAs(jane, 'POST', roles, body)).status, 201)
    assert.equal((await server.sendAs(jane, 'POST', `${base}/clusterroles`, body)).status, 403)
  })

  it('needs all permissions for an aggregation rule', async () => {
    await using server = await startWith(getMaps)
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }
    const { body } = await server.sendAs(jane, 'POST', `${base}/clusterroles`, {
      metadata: { name: 'agg' },
      aggregationRule,
    })
    assert.equal(
      body.message,
      `clusterroles.${group} "agg" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
    )
  })

  it('gets a validation error for a rule without verbs', async () => {
    await using server = await startWith(getMaps)
    const rules = [{ verbs: [], apiGroups: [''], resources: ['secrets'] }]
    assert.equal((await server.sendAs(jane, 'POST', roles, { metadata: { name: 'x' }, rules })).status, 422)
  })
})

describe('a user who writes bindings', () => {
  it('cannot bind roles with more than their own permissions', async () => {
    await using server = await startWith(getMaps)
    const admin = await server.sendAs(jane, 'POST', bindings, bindingTo('ClusterRole', 'cluster-admin'))
    assert.equal(admin.status, 403)
    assert.match(
      String(admin.body.message),
      /^rolebindings\.rbac\.authorization\.k8s\.io "b" is forbidden: user "jane"/,
    )
    await server.write('POST', roles, { metadata: { name: 'maps' }, rules: [getMaps] })
    assert.equal((await server.sendAs(jane, 'POST', bindings, bindingTo('Role', 'maps'))).status, 201)
  })

  it('cannot bind a role that does not exist', async () => {
    await using server = await startWith(getMaps)
    const { status, body } = await server.sendAs(jane, 'POST', bindings, bindingTo('Role', 'gone'))
    assert.equal(status, 404)
    assert.equal(body.message, `rolebindings.${group} "gone" not found`)
  })

  it('may bind the roles that they have permission to bind', async () => {
    const bind = { verbs: ['bind'], apiGroups: [group], resources: ['clusterroles'], resourceNames: ['edit'] }
    await using server = await startWith(bind)
    const edit = await server.sendAs(jane, 'POST', bindings, bindingTo('ClusterRole', 'edit'))
    assert.equal(edit.status, 201)
    const admin = bindingTo('ClusterRole', 'cluster-admin')
    assert.equal((await server.sendAs(jane, 'POST', `${base}/clusterrolebindings`, admin)).status, 403)
  })

  it('cannot add a subject to a binding of a role with more permissions', async () => {
    await using server = await startWith(getMaps)
    await server.write('POST', bindings, bindingTo('ClusterRole', 'cluster-admin'))
    const body = { subjects: [{ kind: 'User', name: 'jane', apiGroup: group }] }
    const type = 'application/merge-patch+json'
    assert.equal((await server.sendAs(jane, 'PATCH', `${bindings}/b`, body, type)).status, 403)
  })
})
