import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createSession, type Expectations, type Session } from '../kubectl/session.ts'
import { startTarget, type Target } from '../support/target.ts'
import { chart, createHelm } from './helm.ts'

// Nothing here waits for Pods or Jobs: the server has no controllers.
const quiet = `${chart} --set jobs=false`

let target: Target
before(async () => {
  target = await startTarget()
})
after(() => target[Symbol.asyncDispose]())

/** A namespace, a kubectl and a Helm for one group of tests. */
function workIn(namespace: string): { kubectl: Session; helm: Expectations } {
  const tools = {} as { kubectl: Session; helm: Expectations }
  before(async () => {
    tools.kubectl = await createSession(target, '1.36', namespace)
    tools.helm = createHelm(tools.kubectl)
  })
  after(() => tools.kubectl[Symbol.dispose]())
  return tools
}

const dataOf = (name: string, key: string) => `get configmap ${name} -o jsonpath={.data.${key}}`

describe('a release', () => {
  const tools = workIn('helm-release')

  it('is installed with its definition, its objects and its hooks', async () => {
    const { kubectl, helm } = tools
    await helm.ok(
      `install ferry ${quiet} --set colour=white`,
      /STATUS: deployed\nREVISION: 1\nDESCRIPTION: Install complete/,
      /NOTES:\nferry flies white in helm-release, revision 1\./,
    )
    await kubectl.ok(
      'get deploy,svc,sa,berth -l app.kubernetes.io/managed-by=Helm -o name',
      'deployment.apps/ferry\nservice/ferry\nserviceaccount/ferry\nberth.harbour.example.com/ferry',
    )
    await kubectl.ok('get cm -l hook -o name', 'configmap/ferry-post-install\nconfigmap/ferry-pre-install')
    await kubectl.ok(
      'get deploy ferry -o jsonpath={.metadata.annotations.meta\\.helm\\.sh/release-name}',
      'ferry',
    )
    await kubectl.ok(
      'get secret sh.helm.release.v1.ferry.v1 -o jsonpath={.type},{.metadata.labels.status}',
      'helm.sh/release.v1,deployed',
    )
    await helm.fails(`install ferry ${quiet}`, /cannot reuse a name that is still in use/)
  })

  it('is listed and described', async () => {
    const { helm } = tools
    await helm.ok('list', /^ferry\s+helm-release\s+1\s.*\sdeployed\s+harbour-0\.1\.0\s+1\.0/m)
    await helm.ok('list --all-namespaces --filter ^ferry$ -q', /^ferry$/m)
    await helm.ok('list --failed -q', '')
    await helm.ok(
      'status ferry',
      /STATUS: deployed/,
      /==> v1\/Deployment\nNAME +READY +UP-TO-DATE +AVAILABLE +AGE\nferry +0\/1 /,
      /==> v1\/Berth\nNAME +AGE\nferry /,
    )
    await helm.ok('get values ferry', /^colour: white\njobs: false$/m)
    await helm.ok('get values ferry --all', /^image: busybox$/m)
    await helm.ok('get manifest ferry', /^kind: Berth$/m, /^ {2}replicas: 1$/m)
    await helm.ok('get hooks ferry', /helm\.sh\/hook: post-delete/)
    await helm.ok('get metadata ferry', /APPLY_METHOD: server-side apply/)
  })

  it('is upgraded by what changed, with the values it had if that is wanted', async () => {
    const { kubectl, helm } = tools
    await helm.ok(`upgrade ferry ${chart} --reuse-values --set replicas=2`, /REVISION: 2/)
    await kubectl.ok('get deploy ferry -o jsonpath={.spec.replicas},{.metadata.generation}', '2,2')
    await kubectl.ok('get berth ferry -o jsonpath={.spec.colour},{.metadata.generation}', 'white,1')
    await kubectl.ok(dataOf('ferry-pre-upgrade', 'colour'), 'white')
    await helm.ok(`upgrade ferry ${quiet}`, /REVISION: 3/)
    await kubectl.ok('get berth ferry -o jsonpath={.spec.colour},{.metadata.generation}', 'blue,2')
    await kubectl.ok(dataOf('ferry-post-upgrade', 'revision'), '3')
    await helm.ok(`upgrade --install ferry ${quiet} --set colour=red`, /has been upgraded[\s\S]*REVISION: 4/)
    await helm.ok(`upgrade --install tug ${quiet}`, /Installing it now[\s\S]*REVISION: 1/)
    await helm.fails(`upgrade missing ${quiet}`, /"missing" has no deployed releases/)
  })

  it('goes back, and keeps its history', async () => {
    const { kubectl, helm } = tools
    await helm.ok('rollback ferry 2', /Rollback was a success/)
    await kubectl.ok('get deploy ferry -o jsonpath={.spec.replicas}', '2')
    await kubectl.ok('get berth ferry -o jsonpath={.spec.colour}', 'white')
    await kubectl.ok('get cm ferry-pre-rollback ferry-post-rollback -o name', /pre.*\n.*post/)
    const history = await helm.ok('history ferry')
    const states = [...history.matchAll(/^\d+\s+.*\d{4}\s+(\S+)\s+harbour-0\.1\.0\s+1\.0\s+(.*\S)/gm)]
    assert.deepEqual(
      states.map(([, state, text]) => `${state}: ${text}`),
      [
        'superseded: Install complete',
        'superseded: Upgrade complete',
        'superseded: Upgrade complete',
        'superseded: Upgrade complete',
        'deployed: Rollback to 2',
      ],
    )
    await helm.fails('rollback ferry 9', /release: not found|has no 9 version/)
  })

  it('is taken away, with its history or without', async () => {
    const { kubectl, helm } = tools
    await helm.ok('uninstall ferry --keep-history', /release "ferry" uninstalled/)
    await kubectl.ok('get deploy,svc,sa,berth -l app.kubernetes.io/instance=ferry -o name', '')
    await kubectl.ok('get cm ferry-pre-delete ferry-post-delete -o name', /pre.*\n.*post/)
    await helm.ok('list --uninstalled -q', 'ferry')
    await helm.ok('history ferry', /uninstalled.*Uninstallation complete/)
    await helm.ok('rollback ferry 1')
    await kubectl.ok('get berth ferry -o jsonpath={.spec.colour}', 'white')
    await helm.ok('uninstall ferry')
    await helm.ok('uninstall tug')
    await helm.ok('list -q', '')
    await helm.fails('uninstall ferry', /release: not found/)
    await kubectl.ok('get secrets -l owner=helm -o name', '')
    await kubectl.ok('get crd berths.harbour.example.com -o name', /berths/)
  })
})

describe('what a template knows about the server', () => {
  const tools = workIn('helm-template')

  it('is what the server says and holds', async () => {
    const { kubectl, helm } = tools
    const show = `template chart ${quiet} -s templates/configmap.yaml`
    await kubectl.ok('apply -f interop/helm/chart/crds')
    await helm.ok(show, /seesNamespaces: "false"/, /depth: "unknown"/)
    await helm.ok(`${show} --dry-run=server`, /seesNamespaces: "true"/, /depth: "unknown"/, /server: "v1\.36/)
    await kubectl.ok('create configmap sea-chart --from-literal=depth=7')
    await helm.ok(
      `${show} --dry-run=server`,
      /depth: "7"/,
      /knowsDeployments: "true"/,
      /knowsAirports: "false"/,
    )
    await helm.ok(`template chart ${quiet} --validate`, /^kind: Berth$/m)
    await helm.fails(`template chart ${quiet} --validate --set replicas=11`, /maximum: got 11, want 10/)
  })

  it('is the same in a rehearsal, which leaves nothing behind', async () => {
    const { kubectl, helm } = tools
    await helm.ok(
      `install dry ${quiet} --dry-run=server`,
      /DESCRIPTION: Dry run complete/,
      /kind: Berth/,
      /depth: "7"/,
    )
    await kubectl.ok('get deploy,svc,secrets,berth -o name', '')
    await helm.ok('list -q', '')
  })
})

describe('whose a field is', () => {
  const tools = workIn('helm-fields')
  const managers =
    'get deploy owned --show-managed-fields -o jsonpath={range.metadata.managedFields[*]}{.manager}:{.operation}{end}'

  it('is Helm’s by apply or by update', async () => {
    const { kubectl, helm } = tools
    await helm.ok(`install owned ${quiet}`)
    await kubectl.ok(managers, 'helm:Apply')
    await helm.ok(`upgrade owned ${quiet} --set replicas=2 --server-side=false`)
    await kubectl.ok('get deploy owned -o jsonpath={.spec.replicas}', '2')
    await helm.ok(`upgrade owned ${quiet} --set replicas=3 --server-side=true`)
    await kubectl.ok(managers, 'helm:Apply')
    await helm.ok(`install updated ${quiet} --server-side=false`)
    await kubectl.ok(managers.replace('owned', 'updated'), 'helm:Update')
    await helm.ok('get metadata updated', /APPLY_METHOD: client-side apply/)
    await helm.ok(`upgrade updated ${quiet} --set colour=red`)
    await kubectl.ok('get berth updated -o jsonpath={.spec.colour}', 'red')
  })

  it('belongs to another manager until it is taken by force', async () => {
    const { kubectl, helm } = tools
    await kubectl.ok('scale deploy owned --replicas=5')
    await helm.fails(
      `upgrade owned ${quiet} --set replicas=4`,
      /Apply failed with 1 conflict: conflict with "kubectl.*" with subresource "scale" using apps\/v1: \.spec\.replicas/,
    )
    await helm.ok('history owned', /failed .*conflict occurred while applying object/)
    await kubectl.ok('get deploy owned -o jsonpath={.spec.replicas}', '5')
    await helm.ok(`upgrade owned ${quiet} --set replicas=4 --force-conflicts`)
    await kubectl.ok('get deploy owned -o jsonpath={.spec.replicas}', '4')
  })

  it('comes with an object only when it is adopted', async () => {
    const { kubectl, helm } = tools
    await kubectl.ok('create serviceaccount found')
    await helm.fails(
      `install found ${quiet}`,
      /ServiceAccount "found" in namespace "helm-fields" exists and cannot be imported/,
    )
    await helm.ok(`install found ${quiet} --take-ownership`)
    await kubectl.ok('get sa found -o jsonpath={.metadata.labels.app\\.kubernetes\\.io/managed-by}', 'Helm')
  })
})
