import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createClusterSession, type Expectations, type Session } from '../../kubectl/session.ts'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import type { Following } from '../../support/kubectl.ts'
import { chart, createHelm } from '../helm.ts'

// Jobs, tests and --wait need controllers and a node, which the reference is run without.
describe('a chart whose hooks are Jobs', () => {
  let server: RunningServer
  let kubectl: Session
  let helm: Expectations
  let jobs: Following
  before(async () => {
    server = await startServer('--runtime', 'process')
    kubectl = await createClusterSession(server, '1.36', 'helm-hooks')
    helm = createHelm(kubectl)
    jobs = kubectl.kubectl.follow(
      ...['get', 'jobs', '-w', '--output-watch-events', '-o'],
      'jsonpath={.type} {.object.metadata.name} {.object.status.succeeded}{"\\n"}',
    )
  })
  after(async () => {
    await jobs[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    kubectl[Symbol.dispose]()
  })

  /** When Jobs came, had succeeded and went, since the last time this was asked. */
  let reported = 0
  async function jobsUntil(last: RegExp): Promise<string[]> {
    await jobs.until(last)
    const lines = jobs.lines.slice(reported).filter(line => /^(ADDED|DELETED)|^MODIFIED \S+ 1$/.test(line))
    reported = jobs.lines.length
    return [...new Set(lines.map(line => line.replace(/^MODIFIED (\S+) 1$/, 'DONE $1').replace(/ \d*$/, '')))]
  }
  const course = (...names: string[]) =>
    names.flatMap(name => [`ADDED ${name}`, `DONE ${name}`, `DELETED ${name}`])

  it('is installed when they have succeeded and its pods are available', async () => {
    await helm.ok(`install pier ${chart} --wait --timeout 20s --set replicas=2`, /STATUS: deployed/)
    await kubectl.ok('get deploy pier', /^pier +2\/2 +2 +2 /m)
    await kubectl.ok('get endpointslices -l kubernetes.io/service-name=pier -o name', /endpointslice/)
    await helm.ok('status pier', /==> v1\/Pod\(related\)[\s\S]*pier-\S+ +1\/1 +Running/)
    assert.deepEqual(
      await jobsUntil(/^DELETED pier-post-install-1/),
      course('pier-pre-install-1', 'pier-post-install-1'),
    )
    await kubectl.ok('get pods -l batch.kubernetes.io/job-name -o name', '')
  })

  it('runs them by weight, one after the other', async () => {
    await helm.ok(`upgrade pier ${chart} --wait --timeout 20s --reuse-values --set colour=red`, /REVISION: 2/)
    await kubectl.ok('get deploy pier', /^pier +2\/2 +2 +2 /m)
    await kubectl.ok('get pods -o jsonpath={.items[*].metadata.annotations.colour}', /red red/)
    assert.deepEqual(await jobsUntil(/^DELETED pier-post-upgrade-1/), [
      ...['ADDED pier-pre-upgrade-1', 'DONE pier-pre-upgrade-1', 'ADDED pier-pre-upgrade-2'],
      ...['DONE pier-pre-upgrade-2', 'DELETED pier-pre-upgrade-2', 'DELETED pier-pre-upgrade-1'],
      ...course('pier-post-upgrade-1'),
    ])
  })

  it('passes its tests, or does not', async () => {
    await helm.ok('test pier --logs', /TEST SUITE: +pier-whistle[\s\S]*Phase: +Succeeded/, /the flag is red/)
    await kubectl.ok('get pod pier-whistle', /0\/1 +Completed/)
    await kubectl.ok('create configmap weather --from-literal=now=storm')
    await helm.fails('test pier --timeout 20s', /pier-whistle.* failed|1 error|Failed/)
    await kubectl.ok('get pod pier-whistle', /0\/1 +Error/)
  })

  it('stops at a hook that fails, before anything is changed', async () => {
    const command = `upgrade pier ${chart} --reuse-values --timeout 20s --set colour=black --set-string`
    await helm.fails(`${command} 'inspection=exit 3'`, /pre-upgrade hooks failed: .*pier-pre-upgrade-1/)
    await kubectl.ok('get berth pier -o jsonpath={.spec.colour}', 'red')
    await kubectl.ok('get jobs', /^pier-pre-upgrade-1 +Failed +0\/1 /m)
    await helm.ok('history pier', /failed .*pre-upgrade hooks failed/)
  })

  it('is put back when an upgrade does not get ready', async () => {
    await helm.fails(
      `upgrade pier ${chart} --reuse-values --rollback-on-failure --timeout 6s --set image=example.com/none:1 --set-string 'inspection=exit 0'`,
      /release pier failed, and has been rolled back[\s\S]*Deployment\/helm-hooks\/pier not ready/,
    )
    await kubectl.ok('get deploy pier', /^pier +2\/2 +2 +2 /m)
    await kubectl.ok('get deploy pier -o jsonpath={.spec.template.spec.containers[0].image}', 'busybox')
    await helm.ok('history pier', /failed .*not ready[\s\S]*deployed .*Rollback to 2/)
    await kubectl.ok('get configmap pier-post-rollback -o name')
  })

  it('rolls back', async () => {
    await jobsUntil(/^DELETED pier-post-rollback-1/)
    await helm.ok('rollback pier 1 --wait --timeout 20s')
    await kubectl.ok(
      'get pods -l app.kubernetes.io/name=harbour -o jsonpath={.items[*].metadata.annotations.colour}',
      /^blue blue/,
    )
    await kubectl.ok('rollout history deploy/pier', /^REVISION +CHANGE-CAUSE\n/m)
    assert.deepEqual(
      (await jobsUntil(/^DELETED pier-post-rollback-1/)).filter(line => line.startsWith('ADDED')),
      ['ADDED pier-pre-rollback-1', 'ADDED pier-post-rollback-1'],
    )
  })

  it('is deleted when helm says so', async () => {
    await helm.ok('uninstall pier --wait --cascade foreground --timeout 20s', /release "pier" uninstalled/)
    await kubectl.ok('get deploy,rs,svc,sa,berth,pods -l app.kubernetes.io/instance=pier -o name', '')
    assert.deepEqual(
      await jobsUntil(/^DELETED pier-post-delete-1/),
      course('pier-pre-delete-1', 'pier-post-delete-1'),
    )
  })
})
