import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { kubectlVersions } from '../support/kubectl.ts'
import { startTarget, type Target } from '../support/target.ts'
import { createSession, deleted, manifests, type Session } from './session.ts'

let target: Target

before(async () => {
  target = await startTarget()
})
after(() => target[Symbol.asyncDispose]())

// The versions side by side, each in a namespace of its own.
describe('delete and wait', { concurrency: 2 }, () => {
  for (const version of kubectlVersions) {
    describe(`delete and wait with kubectl ${version}`, { concurrency: 1 }, () => {
      const namespace = `reef-${version.replace('.', '-')}`
      let session: Session
      before(async () => {
        session = await createSession(target, version, namespace)
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
          '--timeout=120s',
        )
        await waiting.until(/watch=true/)
        await session.ok(`patch cm held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`)
        await waiting.until(/configmap\/held condition met/)
        await session.ok('get cm held --ignore-not-found', '')
      })

      it('deletes Pods without a node, whatever the flags', async () => {
        await session.ok('create serviceaccount default')
        for (const how of ['--grace-period=1', '--now', '--wait=false', '--timeout=10s']) {
          await session.ok('run fleeting --image=busybox', 'pod/fleeting created')
          await session.ok(`delete pod fleeting ${how}`, deleted(version, 'pod "fleeting"'))
          await session.fails('get pod fleeting', /NotFound/)
        }
        await session.ok('run fleeting --image=busybox')
        await session.ok('delete pod fleeting --grace-period=0 --force', /pod "fleeting" force deleted/)
        await session.ok('get pods -o name', '')
      })

      it('sets the finalizer or propagation that the garbage collector acts on', async () => {
        const finalizers = 'get deploy fleet -o jsonpath={.metadata.finalizers}'
        for (const [how, wanted] of [
          ['foreground', '["foregroundDeletion"]'],
          ['orphan', '["orphan"]'],
        ]) {
          await session.ok(`apply -f ${manifests}/fleet.yaml`)
          await session.ok(
            `delete deploy fleet --cascade=${how} --wait=false`,
            deleted(version, 'deployment.apps "fleet"'),
          )
          await session.ok(finalizers, wanted!)
          await session.ok(`patch deploy fleet --type=merge -p '{"metadata":{"finalizers":null}}'`)
          await session.fails('get deploy fleet', /NotFound/)
        }
        await session.ok(`apply -f ${manifests}/fleet.yaml`)
        await session.ok(
          'delete deploy fleet --cascade=background',
          deleted(version, 'deployment.apps "fleet"'),
        )
      })

      it('marks a namespace as terminating and lets nothing new into it', async () => {
        const wreck = `wreck-${namespace}`
        await session.ok(`create namespace ${wreck}`)
        await session.ok(`delete ns ${wreck} --wait=false`, `namespace "${wreck}" deleted`)
        await session.ok(`get ns ${wreck} -o jsonpath={.status.phase}`, 'Terminating')
        await session.fails(
          `create configmap cargo -n ${wreck}`,
          /is forbidden: unable to create new content in namespace .* because it is being terminated/,
        )
        await session.fails('delete ns default', /is forbidden: this namespace may not be deleted/)
      })
    })
  }
})

describe('waiting as only newer versions of kubectl do', () => {
  let session: Session
  before(async () => {
    session = await createSession(target, '1.36', 'newer-reef')
  })
  after(() => session[Symbol.dispose]())

  it('waits for creation and for a field', async () => {
    await using waiting = session.kubectl.follow('wait', '--for=create', 'cm/late', '--timeout=120s')
    await session.ok('create configmap late --from-literal=a=1')
    await waiting.until(/configmap\/late condition met/)
    await session.ok('wait --for=jsonpath={.data.a}=1 cm/late --timeout=120s', 'configmap/late condition met')
    await session.fails(
      'wait --for=jsonpath={.data.a}=2 cm/late --timeout=1s',
      /timed out waiting for the condition/,
    )
  })
})
