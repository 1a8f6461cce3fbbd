import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { kubectlVersions } from '../../support/kubectl.ts'
import { createClusterSession, deleted, type Session } from '../session.ts'

// What follows needs the controllers, the scheduler and a node, which the reference is run without.
let server: RunningServer

before(async () => {
  server = await startServer('--nodes', '1')
})
after(() => server[Symbol.asyncDispose]())

// The versions side by side, each in a namespace of its own.
describe('a cluster with a node', { concurrency: 2 }, () => {
  for (const version of kubectlVersions) {
    describe(`a cluster with a node and kubectl ${version}`, { concurrency: 1 }, () => {
      const namespace = `cluster-${version.replace('.', '-')}`
      let session: Session
      before(async () => {
        session = await createClusterSession(server, version, namespace)
      })
      after(() => session[Symbol.dispose]())

      it('deletes pods gracefully or at once', async () => {
        await session.ok('run slow --image=busybox', 'pod/slow created')
        await session.ok('wait --for=condition=Ready pod/slow --timeout=120s', 'pod/slow condition met')
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
        await session.ok('wait --for=condition=Ready pod/seen --timeout=120s')
        // Events come a little later than what they tell of.
        await session.until(
          'get events --field-selector=involvedObject.name=seen',
          /Normal +Scheduled +pod\/seen/,
        )
        await session.ok('describe pod seen', /Status: +Running/, /Events:[\s\S]*Scheduled/)
        await session.ok('delete pod seen --wait=false', deleted(version, 'pod "seen"'))
      })

      it('cascades as the flag says', async () => {
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
        await session.ok('get nodes', /^node-1 +Ready +control-plane .*v1\.36/m)
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

describe('a cluster with a node, as only newer versions of kubectl ask', () => {
  let session: Session
  before(async () => {
    session = await createClusterSession(server, '1.36', 'newer-cluster')
  })
  after(() => session[Symbol.dispose]())

  it('lists the events of one object', async () => {
    await session.ok('run seen --image=busybox')
    await session.ok('wait --for=condition=Ready pod/seen --timeout=120s')
    await session.until('events --for pod/seen', /Normal +Scheduled +Pod\/seen/)
    await session.ok('events --types=Warning --for pod/seen', /^(No events found.*)?\s*$/)
    await session.ok('delete pod seen --now')
  })
})
