import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { kubectlVersions } from '../support/kubectl.ts'
import { startTarget, type Target } from '../support/target.ts'
import { createSession, manifests, type Session } from './session.ts'

const forms = `${manifests}/forms`
let target: Target

before(async () => {
  target = await startTarget()
})
after(() => target[Symbol.asyncDispose]())

// The versions side by side, each in a namespace of its own.
describe('more forms of commands', { concurrency: 2 }, () => {
  for (const version of kubectlVersions) {
    describe(`more forms of commands with kubectl ${version}`, { concurrency: 1 }, () => {
      let session: Session
      before(async () => {
        session = await createSession(target, version, `cove-${version.replace('.', '-')}`)
        await session.ok(
          `apply -f ${manifests}/chart.yaml -f ${manifests}/fleet.yaml -f ${manifests}/crew.yaml`,
        )
      })
      after(() => session[Symbol.dispose]())

      it('prints by templates in files', async () => {
        await session.ok(`get cm chart -o jsonpath-file=${forms}/chart.jsonpath`, '10/1')
        await session.ok(`get cm chart -o go-template-file=${forms}/chart.tmpl`, 'chart:10')
        await session.ok(
          `get cm chart -o custom-columns-file=${forms}/columns.txt`,
          /^NAME +DEPTH\nchart +10\n$/,
        )
        const found = await session.ok('get cm chart -o jsonpath-as-json={.data.depth}')
        assert.deepEqual(JSON.parse(found), ['10'])
      })

      it('watches in other forms', async () => {
        await using json = session.kubectl.follow(
          'get',
          'cm',
          'chart',
          '-w',
          '-o',
          'jsonpath={.data.depth}{"\\n"}',
        )
        await json.until(/^10$/)
        await session.ok(`patch cm chart -p '{"data":{"depth":"11"}}'`)
        await json.until(/^11$/)
        await session.ok(`patch cm chart -p '{"data":{"depth":"10"}}'`)
      })

      it('scales every kind that has a scale', async () => {
        await session.ok('scale sts crew --replicas=3', 'statefulset.apps/crew scaled')
        await session.ok('scale rs/oars --replicas=4', 'replicaset.apps/oars scaled')
        await session.ok('get sts,rs -o jsonpath={.items[*].spec.replicas}', '3 4')
        await session.ok(`scale -f ${manifests}/fleet.yaml --replicas=2`, 'deployment.apps/fleet scaled')
        await session.ok('scale deploy --all --replicas=0', 'deployment.apps/fleet scaled')
        await session.fails('scale ds watch --replicas=1', /could not find the requested resource|NotFound/)
      })

      it('restarts and undoes other workloads as far as that needs no controller', async () => {
        await session.ok('rollout restart sts/crew', 'statefulset.apps/crew restarted')
        await session.ok('rollout restart ds/watch', 'daemonset.apps/watch restarted')
        await session.ok('get ds watch -o yaml', /kubectl\.kubernetes\.io\/restartedAt/)
        await session.ok('rollout status ds/watch --watch=false', /Waiting for daemon set/)
        await session.ok('set image ds/watch *=busybox:1.37', 'daemonset.apps/watch image updated')
        await session.ok('set image sts/crew hand=busybox:1.37', 'statefulset.apps/crew image updated')
        await session.ok('describe sts crew', /Replicas: +3 desired/)
        await session.ok('describe ds watch', /Image: +busybox:1\.37/)
        await session.ok('describe rs oars', /Replicas: +0 current \/ 4 desired/)
      })

      it('exposes services and replica sets', async () => {
        await session.ok('expose rs oars --port=80 --type=NodePort', 'service/oars exposed')
        await session.ok('get svc oars -o jsonpath={.spec.type}:{.spec.selector.app}', 'NodePort:oars')
        await session.ok('expose svc oars --name=oars-too --port=81', 'service/oars-too exposed')
      })

      it('labels and annotates all of a kind', async () => {
        await session.ok('label sts,rs --all bay=cove', /crew labeled/, /oars labeled/)
        await session.ok('get all -l bay=cove -o name', 'replicaset.apps/oars\nstatefulset.apps/crew')
        await session.ok('annotate rs --all note=kept', 'replicaset.apps/oars annotated')
        await session.ok('label rs oars bay- --dry-run=server', /oars (un)?labeled/)
        await session.ok('get rs oars -o jsonpath={.metadata.labels.bay}', 'cove')
      })

      it('shows events', async () => {
        await session.ok(`create -f ${writeEvent(session)}`, 'event/chart.sighted created')
        await session.ok('get events', /Normal +Sighted +configmap\/chart +land in sight/)
        await session.ok('get events --field-selector=reason=Sighted -o name', 'event/chart.sighted')
        await session.ok('get events --field-selector=type=Warning -o name', '')
        await session.ok('describe event chart.sighted', /Reason: +Sighted/)
      })

      it('keeps what was applied, and lets it be edited', async () => {
        await session.edit('s/scale/shape/', 'apply edit-last-applied cm chart', /chart edited|edited/)
        await session.ok('apply view-last-applied cm chart -o json', /"shape"/)
      })

      it('sends raw requests', async () => {
        const path = `/api/v1/namespaces/${session.namespace}/configmaps`
        await session.ok(`create --raw ${path} -f ${manifests}/generated-name.json`, /"kind":"ConfigMap"/)
        await session.ok(`get --raw ${path}?limit=1`, /"remainingItemCount":/)
      })

      it('explains another version of a kind', async () => {
        await session.ok(
          'explain hpa.spec --api-version=autoscaling/v1',
          /VERSION: +(autoscaling\/)?v1/,
          /targetCPUUtilizationPercentage\t<integer>/,
        )
        await session.ok('explain hpa.spec --api-version=autoscaling/v2', /metrics\t<\[\]/)
      })
    })
  }
})

describe('more forms of commands as only newer versions of kubectl have them', () => {
  let session: Session
  before(async () => {
    session = await createSession(target, '1.36', 'newer-cove')
    await session.ok(`apply -f ${manifests}/chart.yaml -f ${writeEvent(session)}`)
  })
  after(() => session[Symbol.dispose]())

  it('lists the events of one object', async () => {
    await session.ok('events --for configmap/chart', /Normal +Sighted +ConfigMap\/chart +land in sight/)
    await session.ok('events --types=Warning --for configmap/chart', '')
  })

  it('patches by a file, and a field of another version', async () => {
    await session.ok(`patch cm chart --patch-file=${forms}/deeper.json`, 'configmap/chart patched')
    await session.ok('get cm chart -o jsonpath={.data.depth}', '30')
  })

  // Debian's kubectl 1.20 panics in `config set-credentials`.
  it('changes its configuration', async () => {
    await session.ok('config set-cluster other --server=https://other.example:6443', /"other" set/)
    await session.ok('config set-credentials mate --token=secret', /"mate" set/)
    await session.ok('config set-context other --cluster=other --user=mate', /"other" (created|modified)/)
    await session.ok('config rename-context other another', /renamed to "another"/)
    await session.ok('config use-context another', /Switched to context "another"/)
    await session.ok(`config use-context ${target.context}`, /Switched to context/)
    await session.ok('config delete-context another', /deleted context another/)
    await session.ok('config view -o jsonpath={.users[?(@.name=="mate")].user.token}', 'REDACTED')
    await session.ok('config view --raw -o jsonpath={.users[?(@.name=="mate")].user.token}', 'secret')
    await session.ok('config unset users.mate', /unset/)
    await session.ok('config set-context --current --namespace=default', /modified/)
    await session.ok(`config set-context --current --namespace=${session.namespace}`, /modified/)
  })

  it('sorts resources', async () => {
    const kinds = (await session.ok('api-resources --sort-by=kind --api-group=apps --no-headers'))
      .trim()
      .split('\n')
      .map(line => line.split(/\s+/).at(-1))
    assert.deepEqual(kinds, ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'])
  })

  it('upgrades what was applied on the client side to the server side', async () => {
    await session.ok(`apply --server-side -f ${manifests}/chart.yaml --force-conflicts`, /serverside-applied/)
    const managers = await session.ok(
      'get cm chart --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}',
    )
    assert.ok(!managers.includes('kubectl-client-side-apply'), managers)
  })
})

/** An event has to name the namespace that it is in. */
function writeEvent({ directory, namespace }: Session): string {
  const file = join(directory, 'event.json')
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'chart.sighted' },
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'chart', namespace },
    type: 'Normal',
    reason: 'Sighted',
    message: 'land in sight',
    source: { component: 'lookout' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
  }
  writeFileSync(file, JSON.stringify(event))
  return file
}
