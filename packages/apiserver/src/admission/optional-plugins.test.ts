import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chooseAdmissionPlugins, defaultAdmissionPlugins, type PluginChoice } from './plugins.ts'
import { startServer } from './test-support/server.ts'

const core = '/api/v1/namespaces/default'

async function startWith(choice: PluginChoice) {
  const chosen = chooseAdmissionPlugins(choice)
  assert.ok(chosen.ok)
  const server = await startServer({ admission: { plugins: chosen.plugins } })
  await server.must('POST', `${core}/serviceaccounts`, { metadata: { name: 'default' } })
  return server
}

const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec },
})

describe('the choice of admission plug-ins', () => {
  const names = (choice: PluginChoice) => {
    const chosen = chooseAdmissionPlugins(choice)
    return chosen.ok ? chosen.plugins.map(({ name }) => name) : chosen.errors
  }

  it("runs the defaults in upstream's order, whatever the order of --enable-admission-plugins", () => {
    assert.deepEqual(
      names({}),
      defaultAdmissionPlugins.map(({ name }) => name),
    )
    const more = names({ enable: ['AlwaysDeny', 'NamespaceExists', 'LimitRanger'], disable: ['Priority'] })
    assert.equal(more.at(-1), 'AlwaysDeny')
    assert.deepEqual(more.slice(0, 3), ['NamespaceLifecycle', 'NamespaceExists', 'LimitRanger'])
    assert.ok(!more.includes('Priority'))
    const webhooks = more.indexOf('MutatingAdmissionWebhook')
    assert.deepEqual(more.slice(webhooks - 1, webhooks + 4), [
      'MutatingAdmissionPolicy',
      'MutatingAdmissionWebhook',
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionWebhook',
      'ResourceQuota',
    ])
  })

  it('rejects unknown names, and names that are both enabled and disabled', () => {
    assert.deepEqual(names({ enable: ['Foo', 'Priority'], disable: ['Bar', 'Priority'] }), [
      'enable-admission-plugins plugin "Foo" is unknown',
      'disable-admission-plugins plugin "Bar" is unknown',
      '[Priority] in enable-admission-plugins and disable-admission-plugins overlapped',
    ])
    assert.deepEqual(names({ enable: ['EventRateLimit'] }), [
      'enable-admission-plugins plugin "EventRateLimit" is not part of this server',
    ])
  })
})

describe('plug-ins that are off by default', () => {
  it('reject external addresses of services (CVE-2020-8554)', async () => {
    await using server = await startWith({ enable: ['DenyServiceExternalIPs'] })
    const service = (externalIPs: string[]) => ({
      metadata: { name: 's' },
      spec: { ports: [{ port: 80 }], externalIPs },
    })
    const refused = await server.send('POST', `${core}/services`, service(['192.0.2.5']))
    assert.equal(refused.status, 403)
    assert.equal(
      refused.body.message,
      'services "s" is forbidden: Use of external IPs is denied by admission control',
    )
    await server.must('POST', `${core}/services`, service([]))
  })

  it('always pull images, tolerate taints of extended resources, and select nodes by namespace', async () => {
    await using server = await startWith({
      enable: ['AlwaysPullImages', 'ExtendedResourceToleration', 'PodNodeSelector'],
      configurations: { PodNodeSelector: { clusterDefaultNodeSelector: 'pool=shared' } },
    })
    const limits = { 'example.com/device': '1' }
    const containers = [{ name: 'c', image: 'i:1', imagePullPolicy: 'Never', resources: { limits } }]
    const { spec } = await server.must('POST', `${core}/pods`, pod('p', { containers }))
    assert.equal(spec.containers[0].imagePullPolicy, 'Always')
    assert.ok(spec.tolerations.some(({ key }: { key: string }) => key === 'example.com/device'))
    assert.deepEqual(spec.nodeSelector, { pool: 'shared' })
    const refused = await server.send('POST', `${core}/pods`, pod('q', { nodeSelector: { pool: 'other' } }))
    assert.match(refused.body.message, /conflicts with its namespace node label selector$/)
  })

  it('create missing namespaces, or reject everything', async () => {
    await using server = await startWith({ enable: ['NamespaceAutoProvision'] })
    await server.must('POST', '/api/v1/namespaces/new/configmaps', { metadata: { name: 'a' } })
    assert.equal((await server.must('GET', '/api/v1/namespaces/new')).status.phase, 'Active')
    const denying = chooseAdmissionPlugins({ enable: ['AlwaysDeny'] })
    assert.ok(denying.ok)
    await using closed = await startServer({ admission: { plugins: denying.plugins } })
    const refused = await closed.send('POST', `${core}/configmaps`, { metadata: { name: 'a' } })
    assert.equal(
      refused.body.message,
      'configmaps "a" is forbidden: admission control is denying all modifications',
    )
  })

  it('require permission to delete an object whose owner references are changed', async () => {
    await using server = await startWith({ enable: ['OwnerReferencesPermissionEnforcement'] })
    const owner = await server.must('POST', `${core}/configmaps`, { metadata: { name: 'owner' } })
    await server.must('POST', `${core}/configmaps`, { metadata: { name: 'a' } })
    const role = {
      metadata: { name: 'r' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch'] }],
    }
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
    await server.must('POST', `${rbac}/roles`, role)
    await server.must('POST', `${rbac}/rolebindings`, {
      metadata: { name: 'r' },
      subjects: [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }],
      roleRef: { kind: 'Role', name: 'r', apiGroup: 'rbac.authorization.k8s.io' },
    })
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }]
    const patch = { metadata: { ownerReferences } }
    const refused = await server.send('PATCH', `${core}/configmaps/a`, patch, { 'impersonate-user': 'jane' })
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /cannot set an ownerRef on a resource you can't delete: /)
    await server.must('PATCH', `${core}/configmaps/a`, patch)
  })
})

describe('default plug-ins', () => {
  it('label pods with the zone of their node', async () => {
    await using server = await startWith({})
    const labels = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', other: 'o' }
    await server.must('POST', '/api/v1/nodes', { metadata: { name: 'n', labels } })
    const direct = await server.must('POST', `${core}/pods`, pod('p', { nodeName: 'n' }))
    assert.deepEqual(direct.metadata.labels, {
      'topology.kubernetes.io/zone': 'z',
      'topology.kubernetes.io/region': 'r',
    })
    await server.must('POST', `${core}/pods`, pod('q'))
    const target = { apiVersion: 'v1', kind: 'Node', name: 'n' }
    await server.must('POST', `${core}/pods/q/binding`, { metadata: { name: 'q' }, target })
    const bound = await server.must('GET', `${core}/pods/q`)
    assert.equal(bound.metadata.labels['topology.kubernetes.io/zone'], 'z')
  })

  it('apply the configured pod security defaults to namespaces without labels', async () => {
    await using server = await startWith({
      configurations: {
        PodSecurity: { defaults: { enforce: 'baseline' }, exemptions: { namespaces: ['kube-system'] } },
      },
    })
    const host = { hostNetwork: true }
    const refused = await server.send('POST', `${core}/pods`, pod('p', host))
    assert.match(refused.body.message, /violates PodSecurity "baseline:latest": host namespaces/)
    await server.must('POST', '/api/v1/namespaces/kube-system/serviceaccounts', {
      metadata: { name: 'default' },
    })
    await server.must('POST', '/api/v1/namespaces/kube-system/pods', pod('p', host))
  })

  it("reject a resize beyond the node's capacity", async () => {
    await using server = await startWith({})
    await server.must('POST', '/api/v1/nodes', { metadata: { name: 'n' } })
    const status = {
      status: { allocatable: { cpu: '2', memory: '1Gi' }, capacity: { cpu: '2', memory: '1Gi' } },
    }
    await server.must('PATCH', '/api/v1/nodes/n/status', status)
    const resources = (cpu: string) => ({ requests: { cpu }, limits: { cpu } })
    const containers = (cpu: string) => [{ name: 'c', image: 'i', resources: resources(cpu) }]
    await server.must('POST', `${core}/pods`, pod('p', { nodeName: 'n', containers: containers('1') }))
    const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
    const resize = (cpu: string) =>
      server.send('PATCH', `${core}/pods/p/resize`, { spec: { containers: containers(cpu) } }, strategic)
    const refused = await resize('3')
    assert.equal(refused.status, 403, JSON.stringify(refused.body))
    assert.match(
      refused.body.message,
      /node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000$/,
    )
    assert.equal((await resize('2')).status, 200)
  })
})
