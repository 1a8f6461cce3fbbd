import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parseKubeconfig } from '@coxswain/client/node'
import { type Caller, createCaller } from '../aggregation/facts.ts'
import { type RunningServer, startServer } from '../support/coxswain.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { createKubectl, type Kubectl } from '../support/kubectl.ts'
import {
  callDirectly,
  type ExtensionProgram,
  registerProgram,
  startEtcd,
  startExtension,
  waitForReason,
} from './extension-program.ts'

const name = 'sample-apiserver'
const group = 'wardle.example.com'
const flunder = (metadata: object, reference = '') => ({
  apiVersion: `${group}/v1alpha1`,
  kind: 'Flunder',
  metadata,
  spec: { reference },
})

/** Only what the manifests of the sample-apiserver grant it. */
const access = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: apiserver, namespace: aggregation }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: wardle }
rules:
- { apiGroups: [""], resources: [namespaces], verbs: [get, watch, list] }
- apiGroups: [admissionregistration.k8s.io]
  resources: ["*"]
  verbs: [get, watch, list]
- { apiGroups: [flowcontrol.apiserver.k8s.io], resources: [prioritylevelconfigurations, flowschemas], verbs: [list, watch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: wardle }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: wardle }
subjects: [{ kind: ServiceAccount, name: apiserver, namespace: aggregation }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: "wardle:system:auth-delegator" }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:auth-delegator" }
subjects: [{ kind: ServiceAccount, name: apiserver, namespace: aggregation }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: wardle-auth-reader, namespace: kube-system }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: extension-apiserver-authentication-reader }
subjects: [{ kind: ServiceAccount, name: apiserver, namespace: aggregation }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: flunders, namespace: default }
rules: [{ apiGroups: [${group}], resources: [flunders], verbs: [get, list] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: flunders, namespace: default }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: flunders }
subjects: [{ kind: User, name: jane }]
`

describe("upstream's sample-apiserver behind our aggregator", () => {
  const stack = new AsyncDisposableStack()
  let server: RunningServer
  let kubectl: Kubectl
  let caller: Caller
  let wardle: ExtensionProgram
  let token: string

  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await kubectl(...args)
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-wardle-'))
  const file = (text: string) => {
    const path = join(folder, 'manifest.yaml')
    writeFileSync(path, text)
    return path
  }
  const apply = (object: object, ...more: string[]) =>
    run('apply', ...more, '-f', file(JSON.stringify(object)))

  before(async () => {
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    server = stack.use(await startServer())
    kubectl = createKubectl('1.36', server.kubeconfig)
    caller = createCaller(server.kubeconfig)
    const etcd = stack.use(await startEtcd())
    const port = await freePort()
    await run('create', 'namespace', 'aggregation')
    await run('apply', '-f', file(access))
    token = (await run('create', 'token', 'apiserver', '-n', 'aggregation')).trim()
    const config = parseKubeconfig(readFileSync(server.kubeconfig, 'utf8'), server.kubeconfig)
    const kubeconfig = join(folder, 'kubeconfig')
    const users = [{ name: config.users?.[0]?.name, user: { token } }]
    writeFileSync(kubeconfig, JSON.stringify({ ...config, users }), { mode: 0o600 })
    wardle = stack.use(startExtension({ name, kubeconfig, args: [`--etcd-servers=${etcd.url}`] }, port))
    await registerProgram(caller, name, wardle, [
      { group, version: 'v1alpha1', priority: 15 },
      { group, version: 'v1beta1', priority: 10 },
    ])
    await waitForReason(caller, `v1alpha1.${group}`, 'Passed')
    await waitForReason(caller, `v1beta1.${group}`, 'Passed')
  })
  after(() => stack.disposeAsync())

  it('is discovered by kubectl', async () => {
    const table = await eventually('flunders are listed', async () => {
      const { stdout } = await kubectl('api-resources', '--api-group', group)
      return stdout.includes('flunders') ? stdout : undefined
    })
    assert.match(table, /^fischers +wardle\.example\.com\/v1alpha1 +false +Fischer$/m)
    assert.match(table, /^flunders +wardle\.example\.com\/v1alpha1 +true +Flunder$/m)
    assert.match(
      await run('api-versions'),
      /^wardle\.example\.com\/v1alpha1\nwardle\.example\.com\/v1beta1$/m,
    )
    await eventually('explain', async () => (await kubectl('explain', 'flunders.spec')).code === 0)
    assert.match(await run('explain', 'flunders.spec'), /reference/)
    const { text } = await caller.send('GET', '/openapi/v2')
    assert.ok(`/apis/${group}/v1alpha1/namespaces/{namespace}/flunders` in JSON.parse(text).paths)
  })

  it('serves get, create, apply, patch, watch and delete', async () => {
    await apply(flunder({ name: 'first', labels: { a: 'b' } }))
    await using watch = kubectl.follow('get', 'flunders', '--watch', '-o', 'name')
    await watch.until(/flunder\.wardle\.example\.com\/first/)
    await apply(flunder({ name: 'second' }), '--server-side')
    await watch.until(/flunder\.wardle\.example\.com\/second/)
    await apply(flunder({ name: 'second' }, 'first'), '--server-side')
    assert.equal(await run('get', 'flunder', 'second', '-o', 'jsonpath={.spec.reference}'), 'first')
    await run('label', 'flunder', 'first', 'c=d')
    assert.equal(await run('get', 'flunders', '-l', 'c=d', '-o', 'name'), `flunder.${group}/first\n`)
    const beta = await run(
      'get',
      `flunders.v1beta1.${group}`,
      'second',
      '-o',
      'jsonpath={.spec.flunderReference}',
    )
    assert.equal(beta, 'first')
    await run('delete', 'flunder', 'first', 'second')
    assert.match((await kubectl('get', 'flunders')).stderr, /No resources found/)
  })

  it('applies its own admission: a flunder with a disallowed name', async () => {
    await apply({
      apiVersion: `${group}/v1alpha1`,
      kind: 'Fischer',
      metadata: { name: 'banned' },
      disallowedFlunders: ['bad'],
    })
    await eventually('it is banned', async () => {
      const { stderr } = await kubectl('apply', '-f', file(JSON.stringify(flunder({ name: 'bad' }))))
      await kubectl('delete', 'flunder', 'bad', '--ignore-not-found')
      return /name is in the list of disallowed|this name may not be used/.test(stderr)
    })
  })

  it('authenticates and authorizes by ours: tokens and rights are checked by reviews', async () => {
    const path = `/apis/${group}/v1alpha1/namespaces/default/flunders`
    const anonymous = await callDirectly(wardle.port, path)
    assert.equal(anonymous.status, 403)
    assert.match(anonymous.text, /system:anonymous/)
    const own = await callDirectly(wardle.port, path, { authorization: `Bearer ${token}` })
    assert.match(own.text, /system:serviceaccount:aggregation:apiserver/)
    // Headers count only with the certificate of the front proxy.
    const forged = await callDirectly(wardle.port, path, {
      'x-remote-user': 'admin',
      'x-remote-group': 'system:masters',
    })
    assert.equal(forged.status, 403)
    assert.equal((await kubectl('get', 'flunders', '--as', 'jane')).code, 0)
    const refused = await kubectl('delete', 'flunder', 'any', '--as', 'jane')
    assert.match(
      refused.stderr,
      /User "jane" cannot delete resource "flunders" in API group "wardle\.example\.com"/,
    )
  })

  it('is unavailable while it is down, and the rest is not', async () => {
    await run('create', 'namespace', 'with-flunders')
    await apply(flunder({ name: 'kept', namespace: 'with-flunders' }))
    await wardle.kill()
    await waitForReason(caller, `v1alpha1.${group}`, 'FailedDiscoveryCheck')
    const { stderr } = await kubectl('get', 'flunders')
    assert.match(stderr, /the server is currently unable to handle the request/)
    assert.match(await run('get', 'apiservices', `v1alpha1.${group}`), /False \(FailedDiscoveryCheck\)/)
    await eventually('its resources are not listed', async () => {
      const { code, stdout } = await kubectl('api-resources', '-o', 'name')
      return code === 0 && !stdout.includes('flunders')
    })
    await run('get', 'pods,deployments,configmaps')

    await run('delete', 'namespace', 'with-flunders', '--wait=false')
    const message = await eventually('the namespace waits', async () => {
      const { text } = await caller.send('GET', '/api/v1/namespaces/with-flunders')
      const conditions: { type: string; status: string; message: string }[] =
        JSON.parse(text).status.conditions ?? []
      const failure = conditions.find(({ type }) => type === 'NamespaceDeletionDiscoveryFailure')
      return failure?.status === 'True' ? failure.message : undefined
    })
    assert.match(
      message,
      /^Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: wardle\.example\.com\/v1alpha1: stale GroupVersion discovery: wardle\.example\.com\/v1alpha1, /,
    )

    wardle.start()
    await waitForReason(caller, `v1alpha1.${group}`, 'Passed')
    await eventually(
      'the namespace is deleted',
      async () => (await kubectl('get', 'namespace', 'with-flunders')).code === 1,
    )
  })
})
