import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import { ClusterRoleBinding } from '@coxswain/api/rbac/v1'
import { VirtualWorld } from '@coxswain/kit'
import { startCluster } from '@coxswain/testing'
import { ensureJoinObjects } from './join.ts'

describe('what joining nodes need', () => {
  const options = { url: 'https://192.0.2.1:6443', ca: 'CA', serviceRange: '10.96.0.0/12' }
  const key = { namespace: 'kube-public', name: 'cluster-info' }

  it('is created once, and follows the address of the server afterwards', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }), controllers: false })
    const { client } = cluster
    await cluster.run(ensureJoinObjects(client, options))
    const signature = { data: { 'jws-kubeconfig-abcdef': 'x' } }
    await cluster.run(client.patch(ConfigMap, key, signature, { type: 'merge' }))
    const binding = { name: 'kubeadm:kubelet-bootstrap' }
    await cluster.run(client.patch(ClusterRoleBinding, binding, { subjects: [] }, { type: 'merge' }))
    await cluster.run(ensureJoinObjects(client, { ...options, url: 'https://192.0.2.2:6443' }))
    const info = await cluster.run(client.get(ConfigMap, key))
    assert.match(info?.data?.kubeconfig ?? '', /server: https:\/\/192\.0\.2\.2:6443/)
    assert.equal(info?.data?.['jws-kubeconfig-abcdef'], 'x', 'the bootstrap signer changes it')
    const kept = await cluster.run(client.get(ClusterRoleBinding, binding))
    assert.deepEqual(kept?.subjects ?? [], [], 'what an administrator changed stays')
  })
})
