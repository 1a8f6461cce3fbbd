import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSession, type Expectations, type Session } from '../kubectl/session.ts'
import { coxswain } from '../support/coxswain.ts'
import { startTarget, type Target } from '../support/target.ts'
import { createHelm } from './helm.ts'

const install = 'interop/helm/fixtures/install.yaml'
const folder = mkdtempSync(join(tmpdir(), 'coxswain-chart-'))
const chart = join(folder, 'chart')
const namespace = 'helm-generated'
let target: Target
let kubectl: Session
let helm: Expectations

async function generate(version: string, from = install): Promise<string> {
  const { code, stderr } = await coxswain(
    'chart',
    '--from',
    from,
    '--out',
    chart,
    '--name',
    'greeter',
    '--chart-version',
    version,
  )
  assert.equal(code, 0, stderr)
  return stderr
}

before(async () => {
  target = await startTarget()
  kubectl = await createSession(target, '1.36', namespace)
  helm = createHelm(kubectl)
  await generate('0.1.0')
})
after(async () => {
  kubectl[Symbol.dispose]()
  await target[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

describe('a generated chart', { concurrency: 1 }, () => {
  it('has no findings', async () => {
    await helm.ok(`lint ${chart} --strict`, /1 chart\(s\) linted, 0 chart\(s\) failed/)
  })

  it('is installed under the names of its release', async () => {
    await helm.ok(
      `install ship ${chart} --take-ownership`,
      /STATUS: deployed/,
      /greeter 0\.1\.0 is installed as ship in helm-generated/,
    )
    await kubectl.ok(
      'get deploy,svc,sa -l app.kubernetes.io/instance=ship -o name',
      /deployment.apps\/ship-greeter-controller-manager\nservice\/ship-greeter-controller-manager-metrics-service\nservice\/ship-greeter-webhook-service\nserviceaccount\/ship-greeter-controller-manager/,
    )
    await kubectl.ok(
      'get clusterrolebinding ship-greeter-manager-rolebinding -o jsonpath={.roleRef.name},{.subjects[0].name},{.subjects[0].namespace}',
      `ship-greeter-manager-role,ship-greeter-controller-manager,${namespace}`,
    )
    await kubectl.ok(
      'get validatingwebhookconfiguration ship-greeter-greeting -o jsonpath={.webhooks[0].clientConfig.service.name},{.webhooks[0].clientConfig.service.namespace}',
      `ship-greeter-webhook-service,${namespace}`,
    )
    await kubectl.ok(
      'get deploy ship-greeter-controller-manager -o jsonpath={.spec.template.spec.containers[0].args}',
      JSON.stringify([
        'run',
        'operator.ts',
        '--leader-elect',
        '--health-probe-bind-address=:8081',
        '--metrics-bind-address=:8443',
        '--webhook-port=9443',
        `--webhook-service=${namespace}/ship-greeter-webhook-service`,
        '--webhook-configuration-prefix=ship-greeter-',
      ]),
    )
    await kubectl.ok(
      'get svc ship-greeter-webhook-service -o jsonpath={.spec.selector}',
      /"app.kubernetes.io\/instance":"ship"/,
    )
  })

  it('leaves braces of descriptions and names in schemas as they are', async () => {
    const root = '{.spec.versions[0].schema.openAPIV3Schema'
    await kubectl.ok(
      `get crd greetings.example.com -o jsonpath=${root}.description}`,
      'A greeting; {{ .Values.manager.image }} and {{end}} are not templates here.',
    )
    await kubectl.ok(
      `get crd greetings.example.com -o jsonpath=${root}.properties.spec.properties.to.description}`,
      'greeter-controller-manager in a description stays.',
    )
    await kubectl.ok(
      'get crd greetings.example.com -o jsonpath={.metadata.annotations.example\\.com/note}',
      'a {{ brace }}',
    )
  })

  it('is upgraded and rolled back', async () => {
    await helm.ok(
      `upgrade ship ${chart} --set manager.replicas=2,manager.image.repository=registry.example.com/greeter,manager.image.tag=`,
      /REVISION: 2/,
    )
    await kubectl.ok(
      'get deploy ship-greeter-controller-manager -o jsonpath={.spec.replicas},{.spec.template.spec.containers[0].image}',
      '2,registry.example.com/greeter:0.1.0',
    )
    await helm.ok('rollback ship 1', /Rollback was a success/)
    await kubectl.ok(
      'get deploy ship-greeter-controller-manager -o jsonpath={.spec.replicas},{.spec.template.spec.containers[0].image}',
      '1,controller:latest',
    )
  })

  it('keeps its definitions and their objects when it is uninstalled', async () => {
    const sample = join(folder, 'sample.yaml')
    writeFileSync(
      sample,
      'apiVersion: example.com/v1\nkind: Greeting\nmetadata: {name: ahab}\nspec: {to: Ahab}\n',
    )
    await kubectl.ok(`apply -f ${sample}`, /created/)
    await helm.ok('uninstall ship', /kept due to the resource policy[\s\S]*greetings.example.com/)
    await kubectl.ok('get deploy,svc,sa -l app.kubernetes.io/instance=ship -o name', '')
    await kubectl.ok('get greeting ahab -o jsonpath={.spec.to}', 'Ahab')
    await helm.ok(`install ship ${chart} --set crd.keep=false --take-ownership`, /STATUS: deployed/)
    await helm.ok('uninstall ship')
    await kubectl.fails('get crd greetings.example.com', /not found/)
  })

  const kinds = async (...set: string[]) => {
    const text = await helm.ok(`template ship ${chart} ${set.map(each => `--set ${each}`).join(' ')}`)
    return [...text.matchAll(/^kind: (\S+)$/gm)].map(([, kind]) => kind)
  }

  it('switches its parts on and off by its values', async () => {
    const all = await kinds()
    const without = async (value: string) => {
      const left = await kinds(value)
      return all
        .filter(
          (kind, at) =>
            all.indexOf(kind) === at &&
            left.filter(each => each === kind).length < all.filter(each => each === kind).length,
        )
        .sort()
    }
    assert.deepEqual(await without('crd.enable=false'), ['CustomResourceDefinition'])
    assert.deepEqual(await without('rbac.enable=false'), [
      'ClusterRole',
      'ClusterRoleBinding',
      'Role',
      'RoleBinding',
    ])
    assert.deepEqual(await without('serviceAccount.enable=false'), ['ServiceAccount'])
    assert.deepEqual(await without('metrics.enable=false'), ['ClusterRole', 'ClusterRoleBinding', 'Service'])
    assert.deepEqual(await without('webhook.enable=false'), ['Service', 'ValidatingWebhookConfiguration'])
    const withMore = async (value: string) => (await kinds(value)).filter(kind => !all.includes(kind)).sort()
    assert.deepEqual(await withMore('certManager.enable=true'), ['Certificate', 'Issuer'])
    assert.deepEqual(await withMore('prometheus.enable=true'), ['ServiceMonitor'])
    assert.deepEqual(await withMore('networkPolicy.enable=true'), ['NetworkPolicy'])
    assert.equal((await kinds('rbac.helpers.enable=true')).length, all.length + 1)
  })

  it('works in one namespace only where values say so', async () => {
    const text = await helm.ok(
      `template ship ${chart} --set rbac.namespaced=true,serviceAccount.enable=false,serviceAccount.name=given`,
    )
    assert.match(text, /- --namespaces=helm-generated/)
    assert.match(
      text,
      /kind: RoleBinding\nmetadata:[\s\S]*?name: ship-greeter-manager-rolebinding\n {2}namespace: helm-generated\nroleRef:\n {2}apiGroup: \S+\n {2}kind: Role\n/,
    )
    assert.match(text, /serviceAccountName: given/)
  })

  it('mounts the certificate of cert-manager', async () => {
    const text = await helm.ok(`template ship ${chart} --set certManager.enable=true`)
    assert.match(text, /--webhook-cert-path=\/tmp\/k8s-webhook-server\/serving-certs/)
    assert.match(text, /inject-ca-from: helm-generated\/ship-greeter-serving-cert/)
    assert.match(text, /secretName: webhook-server-cert[\s\S]*secretName: webhook-server-cert/)
  })

  it('keeps the edits of its author', async () => {
    const values = join(chart, 'values.yaml')
    appendFileSync(values, '\n# The author’s.\nextra: true\n')
    assert.match(await generate('0.1.0'), /^0 of \d+ files changed/m)
    const changed = join(folder, 'changed.yaml')
    writeFileSync(changed, readFileSync(install, 'utf8').replace('replicas: 1', 'replicas: 3'))
    assert.match(
      await generate('0.1.0', changed),
      /values\.yaml has changes of yours: the new text is in \S+values\.yaml\.new/,
    )
    assert.match(readFileSync(values, 'utf8'), /extra: true/)
    assert.match(readFileSync(`${values}.new`, 'utf8'), /replicas: 3/)
    assert.ok(!existsSync(join(chart, 'Chart.yaml.new')))
    const { code, stderr } = await coxswain(
      'chart',
      '--check',
      '--from',
      install,
      '--out',
      chart,
      '--name',
      'greeter',
      '--chart-version',
      '0.2.0',
    )
    assert.equal(code, 1)
    assert.match(stderr, /missing or stale: .*Chart\.yaml.*run coxswain chart/)
  })
})
