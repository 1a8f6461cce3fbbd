import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Node, Pod } from '@coxswain/api/core/v1'
import { VirtualWorld } from '@coxswain/kit'
import { createMirrorPods, type StaticPod } from '@coxswain/kubelet'
import { type Cluster, startCluster } from '@coxswain/testing'
import { addNode } from '@coxswain/testing/test-support/add-node'
import { createObedientPods } from '@coxswain/testing/test-support/obedient-pods'
import { scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'kube-system'
const key = { namespace, name: 'helm-node-1' }
const helm: StaticPod = {
  name: 'helm',
  labels: { component: 'helm', tier: 'control-plane' },
  image: 'ship/helm:1',
  command: ['ship', '--steer'],
}
const nodeLabels = { 'node-role.kubernetes.io/control-plane': '' }
const mirrors = (pods: readonly StaticPod[] = [helm]) =>
  createMirrorPods({ node: 'node-1', pods, nodeLabels })

async function withMirrors(
  body: (cluster: Cluster, stop: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await using cluster = await startCluster({
    env: new VirtualWorld({ seed: 3 }),
    controllers: true,
    nodes: 1,
  })
  const stop = cluster.start(mirrors())
  await cluster.advance(2_000)
  await body(cluster, stop)
}

const find = (cluster: Cluster, of = key) => cluster.run(cluster.client.get(Pod, of))

async function get(cluster: Cluster): Promise<Pod> {
  const pod = await find(cluster)
  assert.ok(pod)
  return pod as Pod
}

describe('mirror pods', () => {
  it('look like the mirror pods of static pods', async () => {
    await withMirrors(async cluster => {
      const { metadata, spec, status } = await get(cluster)
      const node = await cluster.run(cluster.client.get(Node, { name: 'node-1' }))
      const { annotations = {} } = metadata
      assert.deepEqual(metadata.labels, helm.labels)
      assert.match(annotations['kubernetes.io/config.hash'] ?? '', /^[0-9a-f]{32}$/)
      assert.equal(annotations['kubernetes.io/config.mirror'], annotations['kubernetes.io/config.hash'])
      assert.equal(annotations['kubernetes.io/config.source'], 'file')
      const owner = {
        apiVersion: 'v1',
        kind: 'Node',
        name: 'node-1',
        uid: node?.metadata.uid,
        controller: true,
      }
      assert.deepEqual(metadata.ownerReferences, [owner])
      assert.equal(spec.priority, 2_000_001_000)
      assert.equal(spec.hostNetwork, true)
      assert.deepEqual(spec.volumes, undefined)
      assert.deepEqual(spec.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }])
      assert.equal(status?.phase, 'Running')
      assert.equal(status?.podIP, node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address)
      assert.ok(status?.podIP)
      assert.ok(status?.conditions?.every(condition => condition.status === 'True'))
      assert.equal(status?.containerStatuses?.[0]?.restartCount, 0)
      assert.ok(status?.containerStatuses?.[0]?.state?.running)
      assert.equal(node?.metadata.labels?.['node-role.kubernetes.io/control-plane'], '')
    })
  })

  it('are created again when they are deleted, gracefully or not', async () => {
    await withMirrors(async cluster => {
      for (const options of [{}, { gracePeriodSeconds: 0 }]) {
        const { metadata } = await get(cluster)
        await cluster.run(cluster.client.delete(Pod, key, options))
        await cluster.advance(1_000)
        const after = await get(cluster)
        assert.notEqual(after.metadata.uid, metadata.uid)
        assert.equal(after.status?.phase, 'Running')
      }
    })
  })

  it('become ready again when another client marks them not ready, and cost no other write', async () => {
    await withMirrors(async cluster => {
      const { metadata } = await get(cluster)
      await cluster.advance(120_000)
      assert.equal((await get(cluster)).metadata.resourceVersion, metadata.resourceVersion)
      const status = { conditions: [{ type: 'Ready', status: 'False' }] }
      await cluster.run(cluster.client.patch(Pod, key, { status }, { subresource: 'status', type: 'merge' }))
      await cluster.advance(1_000)
      const ready = (await get(cluster)).status?.conditions?.find(({ type }) => type === 'Ready')
      assert.equal(ready?.status, 'True')
    })
  })

  it('count a restart when the process was restarted, and are replaced when the static pod changes', async () => {
    await withMirrors(async (cluster, stop) => {
      const { metadata } = await get(cluster)
      await stop()
      await cluster.advance(1_000)
      const stopAgain = cluster.start(mirrors())
      await cluster.advance(1_000)
      const again = await get(cluster)
      assert.equal(again.metadata.uid, metadata.uid)
      assert.equal(again.status?.containerStatuses?.[0]?.restartCount, 1)
      await stopAgain()
      cluster.start(mirrors([{ ...helm, command: ['ship', '--drift'] }]))
      await cluster.advance(1_000)
      const other = await get(cluster)
      assert.notEqual(other.metadata.uid, metadata.uid)
      assert.deepEqual(other.spec.containers[0]?.command, ['ship', '--drift'])
    })
  })

  it('do not replace each other when two processes claim one node', async () => {
    await withMirrors(async cluster => {
      cluster.start(mirrors([{ ...helm, command: ['ship', '--drift'] }]))
      await cluster.advance(5_000)
      const { metadata } = await get(cluster)
      await cluster.advance(60_000)
      assert.equal((await get(cluster)).metadata.uid, metadata.uid)
    })
  })

  it('do not touch another pod of their name, and wait for their node', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }), nodes: 0 })
    cluster.start(mirrors([helm, { ...helm, name: 'sail' }]))
    await cluster.advance(1_000)
    await cluster.run(
      cluster.client.create(Pod, { metadata: key, spec: { containers: [{ name: 'c', image: 'i' }] } }),
    )
    assert.equal(await find(cluster, { namespace, name: 'sail-node-1' }), undefined)
    const node = await cluster.run(cluster.client.create(Node, { metadata: { name: 'node-1' } }))
    await cluster.advance(1_000)
    assert.equal(await find(cluster, { namespace, name: 'sail-node-1' }), undefined)
    const addresses = [{ type: 'InternalIP' as const, address: '192.0.2.7' }]
    await cluster.run(cluster.client.updateStatus(Node, { ...node, status: { addresses } }))
    await cluster.advance(1_000)
    assert.ok(await find(cluster, { namespace, name: 'sail-node-1' }))
    assert.equal((await get(cluster)).spec.containers[0]?.image, 'i')
  })

  const names = ['helm', 'sail']
  const scenario = scenariosOf('mirror pods of the kubelet', { others: () => [createObedientPods()] })
  scenario('all exist in the end, whatever happens to the process', {
    controllers: () => [mirrors(names.map(name => ({ ...helm, name })))],
    async act(cluster) {
      await addNode(cluster, 'node-1')
      const addresses = [{ type: 'InternalIP' as const, address: '192.0.2.7' }]
      const status = { addresses }
      const options = { subresource: 'status', type: 'merge' } as const
      await cluster.run(cluster.client.patch(Node, { name: 'node-1' }, { status }, options))
      await cluster.advance(5_000)
      await cluster.run(cluster.client.delete(Pod, key))
    },
    async look(cluster) {
      const { items } = await cluster.run(cluster.client.list(Pod, { namespace }))
      return items.map(({ metadata, status }) => [metadata.name, status?.podIP, status?.phase])
    },
    end: names.map(name => [`${name}-node-1`, '192.0.2.7', 'Running']),
  })
})
