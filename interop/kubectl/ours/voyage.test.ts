import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startServer } from '../../support/coxswain.ts'
import { createKubectl, kubectlVersions, succeeds } from '../../support/kubectl.ts'
import { expecting } from '../session.ts'

const operator = ['--operator', 'examples/01-at/operator.ts']
const manifests = ['-f', 'examples/01-at/crd.yaml', '-f', 'examples/01-at/sample.yaml']

for (const version of kubectlVersions) {
  describe(`the first voyage with kubectl ${version}`, () => {
    it('applies, watches, lists and deletes', async () => {
      await using server = await startServer(...operator)
      const kubectl = createKubectl(version, server.kubeconfig)
      const { until } = expecting('kubectl', kubectl)
      await using watch = kubectl.follow('get', 'at', '-w', '-v=6')
      await watch.until(/watch=true.*200 OK/)
      assert.match(await succeeds(kubectl('apply', ...manifests)), /cnrex created/)
      await watch.until(/cnrex .*DONE/)
      const phases = watch.lines.filter(line => line.startsWith('cnrex')).map(line => line.split(/\s+/)[2])
      assert.deepEqual([...new Set(phases.filter(Boolean))], ['PENDING', 'RUNNING', 'DONE'])
      await until('get pods,events', /pod\/cnrex-pod .*Completed/, /Finished .*at\/cnrex/)
      assert.match(await succeeds(kubectl('apply', ...manifests)), /cnrex unchanged/)
      assert.match(await succeeds(kubectl('delete', 'at', 'cnrex')), /cnrex" deleted/)
      await until('get pods -o name', '')
    })

    it('loses no acknowledged write when the server is killed in the middle', async () => {
      await using server = await startServer(...operator)
      const kubectl = createKubectl(version, server.kubeconfig)
      const { until } = expecting('kubectl', kubectl)
      await succeeds(kubectl('apply', ...manifests))
      await until('get at cnrex -o jsonpath={.status.phase}', /RUNNING|DONE/)
      const before = JSON.parse(await succeeds(kubectl('get', 'at,pods', '-o', 'json')))
      await server.kill()
      await server.restart()
      const after = JSON.parse(await succeeds(kubectl('get', 'at,pods', '-o', 'json')))
      const uids = (list: { items: { metadata: { uid: string } }[] }) =>
        list.items.map(item => item.metadata.uid).sort()
      assert.deepEqual(uids(after), uids(before))
      await until('get at cnrex -o jsonpath={.status.phase}', 'DONE')
    })
  })
}
