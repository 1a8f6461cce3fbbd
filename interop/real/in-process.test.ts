import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import { VirtualWorld } from '@coxswain/kit'
import { startCluster } from '@coxswain/testing'
import { createKubectl } from '../support/kubectl.ts'

describe('a real kubectl, against the cluster in this process', () => {
  for (const clock of ['real', 'virtual'] as const) {
    it(`joins in, on the ${clock} clock`, async () => {
      await using cluster = await startCluster(clock === 'virtual' ? { env: new VirtualWorld() } : {})
      const kubectl = createKubectl('1.36', await cluster.kubeconfig())
      const made = await kubectl('create', 'configmap', 'a', '--from-literal=x=1')
      assert.equal(made.code, 0, made.stderr)
      const map = await cluster.run(cluster.client.get(ConfigMap, { namespace: 'default', name: 'a' }))
      assert.deepEqual(map?.data, { x: '1' })
      const listed = await kubectl('get', 'configmaps', '-o', 'name')
      assert.equal(listed.stdout, 'configmap/a\n', listed.stderr)
      const deleted = await kubectl('delete', 'configmap', 'a', '--wait=true')
      assert.equal(deleted.code, 0, deleted.stderr)
    })
  }
})
