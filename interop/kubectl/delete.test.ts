import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../support/coxswain.ts'
import { kubectlVersions } from '../support/kubectl.ts'
import { createSession, deleted, manifests, type Session } from './session.ts'

let server: RunningServer

before(async () => {
  server = await startServer('--nodes', '1')
})
after(() => server[Symbol.asyncDispose]())

// The versions side by side, each in a namespace of its own.
describe('delete and wait', { concurrency: 2 }, () => {
  for (const version of kubectlVersions) {
    describe(`delete and wait with kubectl ${version}`, { concurrency: 1 }, () => {
      const namespace = `reef-${version.replace('.', '-')}`
      let session: Session
      before(async () => {
        session = await createSession(server, version, namespace)
      })
      after(() => session[Symbol.dispose]())

      it('deletes by name, file, label and all', async () => {
        await session.ok(`apply -f ${manifests}/chart.yaml -f ${manifests}/pair.yaml`)
        await session.ok(
          'delete cm -l set=pair --dry-run=client',
          /"port" deleted.*\(dry run\)/,
          /"starboard"/,
        )
        await session.ok('delete cm -l set=pair --dry-run=server', /"port" deleted.*\(server dry run\)/)
        await session.ok('delete cm chart', deleted(version, 'configmap "chart"'))
        await session.fails('delete cm chart', 'Error from server (NotFound): configmaps "chart" not found')
        await session.ok('delete cm chart --ignore-not-found', /^\s*$/)
        await session.ok('delete cm -l set=pair', deleted(version, '"port"'), deleted(version, '"starboard"'))
        await session.ok(`apply -f ${manifests}/pair.yaml`)
        await session.ok(`delete -f ${manifests}/pair.yaml -o name`, 'configmap/port\nconfigmap/starboard')
        await session.ok('create secret generic one')
        await session.ok('create secret generic two')
        await session.ok(
          'delete secret --all',
          deleted(version, 'secret "one"'),
          deleted(version, 'secret "two"'),
        )
        await session.ok('get secrets -o name', '')
      })

      it('deletes through a raw path', async () => {
        await session.ok('create configmap raw')
        await session.ok(`delete --raw /api/v1/namespaces/${namespace}/configmaps/raw`, /"status":"Success"/)
      })

      it('waits for finalizers', async () => {
        await session.ok('create configmap held')
        await session.ok(`patch cm held -p '{"metadata":{"finalizers":["sea.example.com/hold"]}}'`)
        const { stdout, stderr } = await session.fails('delete cm held --timeout=1s')
        assert.match(stdout + stderr, /"held" deleted[\s\S]*timed out waiting for the condition/)
        await session.ok('get cm held -o jsonpath={.metadata.deletionTimestamp}', /^\d{4}-/)
        await using waiting = session.kubectl.follow(
          'wait',
          '--for=delete',
          'cm/held',
          '-v=6',
          '--timeout=20s',
        )
        await waiting.until(/watch=true/)
        await session.ok(`patch cm held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`)
        await waiting.until(/configmap\/held condition met/)
        await session.ok('get cm held --ignore-not-found', '')
      })

      it('deletes pods gracefully or at once', async () => {
        await session.ok('run slow --image=busybox', 'pod/slow created')
        await session.ok('wait --for=condition=Ready pod/slow --timeout=20s', 'pod/slow condition met')
        await session.ok('get pod slow', /^slow +1\/1 +Running/m)
        await session.ok('delete pod slow --grace-period=1', deleted(version, 'pod "slow"'))
        await session.ok('run quick --image=busybox')
        await session.ok('delete pod quick --grace-period=0 --force', /pod "quick" force deleted/)
        await session.ok('run now --image=busybox')
        await session.ok('delete pod now --now', deleted(version, 'pod "now"'))
        await session.ok('get pods -o name', '')
      })

      it('records what happened to a pod', async () => {
        await session.ok('run seen --image=busybox')
        await session.ok('wait --for=condition=Ready pod/seen --timeout=20s')
        await session.ok(
          'get events --field-selector=involvedObject.name=seen',
          /Normal +Scheduled +pod\/seen/,
        )
        await session.ok('describe pod seen', /Status: +Running/, /Events:[\s\S]*Scheduled/)
        await session.ok('delete pod seen --wait=false', deleted(version, 'pod "seen"'))
      })

      it('cascades as it is told', async () => {
        await session.ok('create deployment front --image=nginx --replicas=0')
        await session.ok(
          'delete deploy front --cascade=foreground',
          deleted(version, 'deployment.apps "front"'),
        )
        await session.ok('create deployment back --image=nginx --replicas=0')
        await session.ok(
          'delete deploy back --cascade=background',
          deleted(version, 'deployment.apps "back"'),
        )
        await session.ok('create deployment loose --image=nginx --replicas=0')
        await session.ok('delete deploy loose --cascade=orphan', deleted(version, 'deployment.apps "loose"'))
        await session.ok('get deploy -o name', '')
      })

      it('shows the simulated node', async () => {
        await session.ok('get nodes', /^node-1 +Ready +<none> .*v1\.36/m)
        await session.ok('describe node node-1', /Ready +True/, /Allocatable:/)
        await session.ok('get nodes -o wide', /INTERNAL-IP/)
      })

      it('deletes a namespace with all that is in it', async () => {
        await session.ok(`create namespace wreck-${namespace}`)
        await session.ok(`create configmap cargo -n wreck-${namespace}`)
        await session.ok(`delete ns wreck-${namespace}`, `namespace "wreck-${namespace}" deleted`)
        await session.fails(`get ns wreck-${namespace}`, /NotFound/)
      })
    })
  }
})

describe('waiting as only newer versions of kubectl do', () => {
  let session: Session
  before(async () => {
    session = await createSession(server, '1.36', 'newer-reef')
  })
  after(() => session[Symbol.dispose]())

  it('waits for creation and for a field', async () => {
    await using waiting = session.kubectl.follow('wait', '--for=create', 'cm/late', '--timeout=20s')
    await session.ok('create configmap late --from-literal=a=1')
    await waiting.until(/configmap\/late condition met/)
    await session.ok('wait --for=jsonpath={.data.a}=1 cm/late --timeout=5s', 'configmap/late condition met')
    await session.fails(
      'wait --for=jsonpath={.data.a}=2 cm/late --timeout=1s',
      /timed out waiting for the condition/,
    )
  })

  it('lists the events of one object', async () => {
    await session.ok('run seen --image=busybox')
    await session.ok('wait --for=condition=Ready pod/seen --timeout=20s')
    await session.ok('events --for pod/seen', /Normal +Scheduled +Pod\/seen/)
    await session.ok('events --types=Warning --for pod/seen', /^(No events found.*)?\s*$/)
    await session.ok('delete pod seen --now')
  })
})
