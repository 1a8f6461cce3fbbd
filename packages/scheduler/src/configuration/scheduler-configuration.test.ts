import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Node, Pod } from '@coxswain/api/core/v1'
import { PriorityClass } from '@coxswain/api/scheduling/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { VirtualWorld } from '@coxswain/kit'
import {
  createScheduler,
  type ReadConfigurationOptions,
  readSchedulerConfiguration,
  type SchedulerPlugin,
} from '@coxswain/scheduler'
import { type Cluster, startCluster } from '@coxswain/testing'
import { addNode } from '@coxswain/testing/test-support/add-node'

const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'

async function withConfiguration(
  text: string,
  body: (cluster: Cluster) => Promise<void>,
  options: ReadConfigurationOptions = {},
): Promise<void> {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 8 }) })
  cluster.start(createScheduler(readSchedulerConfiguration(readYaml(head + text)?.value, options)))
  await cluster.advance(1_000)
  await body(cluster)
}

async function addPod(cluster: Cluster, name: string, spec: object = {}): Promise<void> {
  const resources = { requests: { cpu: '1', memory: '1Gi' } }
  const containers = [{ name: 'main', image: 'x', resources }]
  await cluster.run(
    cluster.client.create(Pod, { metadata: { name, namespace: 'default' }, spec: { containers, ...spec } }),
  )
  await cluster.advance(1_000)
}

/** A node for four pods. */
async function addSmallNode(cluster: Cluster, name: string): Promise<void> {
  await addNode(cluster, name)
  const status = { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } }
  const options = { type: 'merge', subresource: 'status' } as const
  await cluster.run(cluster.client.patch(Node, { name }, { status }, options))
}

const nodeOf = async (cluster: Cluster, name: string) =>
  (await cluster.run(cluster.client.get(Pod, { namespace: 'default', name })))?.spec.nodeName

const twoProfiles = `
profiles:
- schedulerName: default-scheduler
- schedulerName: packing
  plugins:
    score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit}]}
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
- schedulerName: fearless
  plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}
`

describe('a scheduler with a configuration', () => {
  it('has several profiles, which pods select by name', async () => {
    await withConfiguration(twoProfiles, async cluster => {
      for (const name of ['a', 'b']) await addNode(cluster, name)
      await addNode(cluster, 'tainted', { taints: [{ key: 'danger', effect: 'NoSchedule' }] })
      await addPod(cluster, 'first', { nodeSelector: {}, schedulerName: 'packing' })
      const busy = await nodeOf(cluster, 'first')
      await addPod(cluster, 'second', { schedulerName: 'packing' })
      assert.equal(await nodeOf(cluster, 'second'), busy, 'the fuller node is preferred')
      await addPod(cluster, 'third')
      assert.ok(
        ![busy, 'tainted', undefined].includes(await nodeOf(cluster, 'third')),
        'the emptier node is preferred',
      )
      await addPod(cluster, 'fourth', { schedulerName: 'fearless' })
      assert.equal(await nodeOf(cluster, 'fourth'), 'tainted', 'taints are ignored')
      await addPod(cluster, 'fifth', { schedulerName: 'none' })
      assert.equal(await nodeOf(cluster, 'fifth'), undefined)
    })
  })

  it('counts pods scheduled by another profile', async () => {
    await withConfiguration(twoProfiles, async cluster => {
      await addSmallNode(cluster, 'a')
      for (const [index, schedulerName] of ['default-scheduler', 'packing', 'fearless', 'packing'].entries())
        await addPod(cluster, `p${index}`, { schedulerName })
      assert.equal(await nodeOf(cluster, 'p3'), 'a')
      await addPod(cluster, 'full', { schedulerName: 'fearless' })
      assert.equal(await nodeOf(cluster, 'full'), undefined, 'the node is full')
    })
  })

  it('runs custom plug-ins that the profile names, with their arguments', async () => {
    const plugin = {
      name: 'OnlyOn',
      create: (args: unknown): SchedulerPlugin => ({
        name: 'OnlyOn',
        filter: (_, { name }) =>
          name === (args as { node: string }).node
            ? undefined
            : { code: 'UnschedulableAndUnresolvable', reasons: ['node(s) were others'] },
      }),
    }
    const text = `
profiles:
- plugins: {filter: {enabled: [{name: OnlyOn}]}}
  pluginConfig: [{name: OnlyOn, args: {node: b}}]
`
    const body = async (cluster: Cluster) => {
      for (const name of ['a', 'b', 'c']) await addNode(cluster, name)
      for (const name of ['p', 'q']) await addPod(cluster, name)
      assert.deepEqual([await nodeOf(cluster, 'p'), await nodeOf(cluster, 'q')], ['b', 'b'])
    }
    await withConfiguration(text, body, { plugins: [plugin] })
  })

  it('calls extenders to filter', async () => {
    const asked: string[] = []
    const text = 'extenders: [{urlPrefix: "http://x", filterVerb: pick, nodeCacheCapable: true}]'
    const body = async (cluster: Cluster) => {
      for (const name of ['a', 'b', 'c']) await addNode(cluster, name)
      await addPod(cluster, 'p')
      assert.equal(await nodeOf(cluster, 'p'), 'c')
      assert.deepEqual(asked, ['http://x/pick'])
    }
    const connectExtender = () => async (url: string) => {
      asked.push(url)
      return { nodenames: ['c'] }
    }
    await withConfiguration(text, body, { connectExtender })
  })

  it('calls extenders to choose victims', async () => {
    const text = 'extenders: [{urlPrefix: "http://x", preemptVerb: spare, nodeCacheCapable: true}]'
    type Victims = Readonly<Record<string, { readonly Pods: readonly { readonly UID: string }[] }>>
    const seen: Victims[] = []
    const connectExtender = () => async (_: string, body: unknown) => {
      const { NodeNameToMetaVictims: victims } = body as { readonly NodeNameToMetaVictims: Victims }
      seen.push(victims)
      return { NodeNameToMetaVictims: { b: victims.b } }
    }
    const body = async (cluster: Cluster) => {
      const { client, run } = cluster
      await run(client.create(PriorityClass, { metadata: { name: 'high' }, value: 1_000 }))
      for (const name of ['a', 'b']) {
        await addSmallNode(cluster, name)
        const requests = { cpu: '3' }
        const containers = [{ name: 'main', image: 'x', resources: { requests } }]
        await addPod(cluster, `on-${name}`, { containers, terminationGracePeriodSeconds: 0 })
      }
      const requests = { cpu: '2' }
      const containers = [{ name: 'main', image: 'x', resources: { requests } }]
      await addPod(cluster, 'important', { containers, priorityClassName: 'high' })
      await cluster.advance(40_000)
      assert.equal(await nodeOf(cluster, 'important'), 'b')
      assert.deepEqual(Object.keys(seen[0] ?? {}).sort(), ['a', 'b'])
      assert.equal(await nodeOf(cluster, 'on-a'), 'a')
    }
    await withConfiguration(text, body, { connectExtender })
  })
})
