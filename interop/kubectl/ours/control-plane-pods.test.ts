import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { kubectlVersions } from '../../support/kubectl.ts'
import { createSession, type Session } from '../session.ts'

const parts = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler']

let server: RunningServer
before(async () => {
  server = await startServer('--nodes', '2')
})
after(() => server?.[Symbol.asyncDispose]())

for (const version of kubectlVersions) {
  describe(`the parts of the control plane and kubectl ${version}`, () => {
    let session: Session
    before(async () => {
      session = await createSession(server, version, `parts-${version.replace('.', '-')}`)
      await session.until('get pods -n kube-system -l tier=control-plane', /(\S+ +1\/1 +Running .*\n){4}/)
    })
    after(() => session[Symbol.dispose]())

    it('are Pods of the first node, with the labels of kubeadm', async () => {
      const names = await session.ok('get pods -n kube-system -l tier=control-plane -o name')
      assert.deepEqual(
        names.trim().split('\n'),
        parts.map(part => `pod/${part}-node-1`),
      )
      for (const part of parts)
        await session.ok(
          `get pods -n kube-system -l component=${part}`,
          new RegExp(`^${part}-node-1 +1/1 +Running`, 'm'),
        )
      await session.ok(
        'describe pod -n kube-system etcd-node-1',
        /Priority Class Name: +system-node-critical/,
        /Controlled By: +Node\/node-1/,
        /Image: +coxswain\/sqlite:/,
        /--storage=sqlite/,
        /Tolerations: +:NoExecute op=Exists/,
      )
      await session.ok('get nodes', /^node-1 +Ready +control-plane/m, /^node-2 +Ready +<none>/m)
    })

    it('have logs', async () => {
      for (const part of parts) await session.until(`logs -n kube-system ${part}-node-1`, /^I\d{4} .*\] "/)
      const manager = 'kube-controller-manager-node-1 -n kube-system'
      await session.ok(`logs ${manager}`, /"starting controller" name="deployment-controller"/)
      assert.equal((await session.ok(`logs ${manager} --tail=2`)).split('\n').length, 3)
      await session.ok(`logs ${manager} --tail=1 --timestamps`, /^\d{4}-\d\d-\d\dT\S+Z I\d{4} /)
      await session.ok(`logs ${manager} --since-time=2099-01-01T00:00:00Z`, '')
      await session.ok(`logs ${manager} --since=1h`, /starting controller/)
      await session.fails(`logs ${manager} --previous`, /previous terminated container/)
      await using following = session.kubectl.follow('logs', ...manager.split(' '), '-f', '--tail=1')
      await following.until(/^I\d{4} /)
    })

    it('run no commands', async () => {
      await session.fails(
        'exec -n kube-system etcd-node-1 -- true',
        /is a mirror pod of the coxswain process/,
      )
    })

    it('say how they are', async () => {
      const healthy = (name: string) => new RegExp(`^${name} +Healthy +ok`, 'm')
      await session.until(
        'get componentstatuses',
        ...['scheduler', 'controller-manager', 'etcd-0'].map(healthy),
      )
      await session.ok('get cs etcd-0 -o jsonpath={.conditions[0].status}', 'True')
      await session.ok('cluster-info', new RegExp(`is running at .*${server.url}`))
      await session.ok(`get --raw /readyz?verbose`, /^\[\+\]etcd ok$/m, /readyz check passed\s*$/)
    })

    it('are in a dump of the cluster, with their logs', async () => {
      const folder = join(session.directory, 'dump')
      await session.ok(`cluster-info dump --namespaces kube-system --output-directory ${folder}`)
      const log = readFileSync(join(folder, 'kube-system/kube-apiserver-node-1/logs.txt'), 'utf8')
      assert.match(log, /"serving securely"/)
      assert.match(readFileSync(join(folder, 'nodes.json'), 'utf8'), /"node-1"/)
    })

    it('come back when they are deleted, and are left by who drains their node', async () => {
      const uid = 'get pod -n kube-system kube-scheduler-node-1 -o jsonpath={.metadata.uid}'
      const before = await session.ok(uid)
      await session.ok('delete pod -n kube-system kube-scheduler-node-1', /deleted/)
      await session.ok('wait --for=condition=Ready pod -n kube-system --timeout=120s kube-scheduler-node-1')
      const after = await session.ok(uid)
      assert.notEqual(after, before)
      await session.ok('drain node-1 --force')
      await session.ok('uncordon node-1')
      await session.ok(uid, after)
    })
  })
}

describe('a control plane without controllers', () => {
  it('shows no parts', async () => {
    await using bare = await startServer('--controllers', 'none')
    using session = await createSession(bare, '1.36', 'bare')
    await session.ok('get pods -n kube-system -o name', '')
    await session.ok('get componentstatuses', /^etcd-0 +Healthy +ok/m, /^scheduler +/m)
  })
})
