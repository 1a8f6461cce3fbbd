import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startServer } from '../../support/coxswain.ts'
import { createKubectl, eventually, kubectlVersions, succeeds } from '../../support/kubectl.ts'

const operator = ['--operator', 'examples/01-at/operator.ts']
const manifests = ['-f', 'examples/01-at/crd.yaml', '-f', 'examples/01-at/sample.yaml']

for (const version of kubectlVersions) {
  describe(`the first voyage with kubectl ${version}`, () => {
    it('applies, watches, lists and deletes', async () => {
      await using server = await startServer(...operator)
      const kubectl = createKubectl(version, server.kubeconfig)
      await using watch = kubectl.follow('get', 'at', '-w')
      assert.match(await succeeds(kubectl('apply', ...manifests)), /cnrex created/)
      await watch.until(/cnrex .*DONE/)
      const phases = watch.lines.filter(line => line.startsWith('cnrex')).map(line => line.split(/\s+/)[2])
      assert.deepEqual([...new Set(phases.filter(Boolean))], ['PENDING', 'RUNNING', 'DONE'])
      const listed = await succeeds(kubectl('get', 'pods,events'))
      assert.match(listed, /pod\/cnrex-pod .*Completed/)
      assert.match(listed, /Finished .*at\/cnrex/)
      assert.match(await succeeds(kubectl('apply', ...manifests)), /cnrex unchanged/)
      assert.match(await succeeds(kubectl('delete', 'at', 'cnrex')), /cnrex" deleted/)
      await eventually(() => kubectl('get', 'pods'), /No resources found/)
    })

    it('loses nothing that kubectl was told when the server is killed in the middle', async () => {
      await using server = await startServer(...operator)
      const kubectl = createKubectl(version, server.kubeconfig)
      await succeeds(kubectl('apply', ...manifests))
      await eventually(() => kubectl('get', 'at', 'cnrex', '-o', 'jsonpath={.status.phase}'), /RUNNING/)
      const before = JSON.parse(await succeeds(kubectl('get', 'at,pods', '-o', 'json')))
      await server.kill()
      await server.restart()
      const after = JSON.parse(await succeeds(kubectl('get', 'at,pods', '-o', 'json')))
      const uids = (list: { items: { metadata: { uid: string } }[] }) =>
        list.items.map(item => item.metadata.uid).sort()
      assert.deepEqual(uids(after), uids(before))
      await eventually(() => kubectl('get', 'at', 'cnrex', '-o', 'jsonpath={.status.phase}'), /DONE/)
    })
  })
}
