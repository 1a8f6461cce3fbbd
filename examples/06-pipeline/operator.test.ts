import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Deployment } from '@coxswain/api/apps/v1'
import { PersistentVolume, PersistentVolumeClaim, Service } from '@coxswain/api/core/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { toCustomResourceDefinition } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { Pipeline } from './operator.ts'

const key = { name: 'vision' }
const namespace = 'default'
const step = (model: string) => ({ image: 'infer:1', model })
const models = { namespace, name: 'vision-models' }

async function launch() {
  const cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
  const { client, run } = cluster
  await cluster.install(operator)
  cluster.start(operator)
  await cluster.advance(1_000)
  const deploymentOf = (index: number) =>
    run(client.get(Deployment, { namespace, name: `vision-step-${index}` }))
  return {
    ...cluster,
    deploymentOf,
    create: () =>
      run(
        client.create(Pipeline.v1beta1, {
          metadata: key,
          spec: {
            modelStorage: { path: '/var/models' },
            steps: [{ ...step('a.onnx'), location: 'node-1', args: ['--fast'] }, step('b.onnx')],
          },
        }),
      ),
    change: (spec: object) => run(client.patch(Pipeline.v1beta1, key, { spec }, { type: 'merge' })),
    status: async () => (await run(client.get(Pipeline.v1beta1, key)))?.status,
    names: async (kind: typeof Deployment | typeof Service) =>
      (
        await run(client.list(kind, { namespace, labelSelector: 'distri-infer.ndsl.cn/pipeline=vision' }))
      ).items
        .map(({ metadata }) => metadata.name)
        .sort(),
    /** What the controllers of a cluster would say. */
    async setDeployment(index: number, status: NonNullable<Deployment['status']>) {
      const deployment = await deploymentOf(index)
      assert.ok(deployment)
      await run(client.updateStatus(Deployment, { ...deployment, status }))
      await cluster.advance(1_000)
    },
    async bind() {
      const claim = await run(client.get(PersistentVolumeClaim, models))
      assert.ok(claim)
      await run(client.updateStatus(PersistentVolumeClaim, { ...claim, status: { phase: 'Bound' } }))
      await cluster.advance(1_000)
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

const available = { replicas: 1, readyReplicas: 1, availableReplicas: 1 }

describe('the pipeline operator', () => {
  it('makes a volume, a claim, and a Deployment with a Service for each step', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.create()
    await cluster.advance(1_000)
    const volume = await run(client.get(PersistentVolume, { name: models.name }))
    assert.equal(volume?.spec?.hostPath?.path, '/var/models')
    assert.equal(volume.metadata.ownerReferences?.[0]?.kind, 'Pipeline')
    assert.ok(await run(client.get(PersistentVolumeClaim, models)))
    assert.deepEqual(await cluster.names(Deployment), ['vision-step-0', 'vision-step-1'])
    assert.deepEqual(await cluster.names(Service), ['vision-step-0', 'vision-step-1'])
    const pod = (await cluster.deploymentOf(0))?.spec?.template.spec
    assert.deepEqual(pod?.nodeSelector, { 'kubernetes.io/hostname': 'node-1' })
    assert.deepEqual(pod.containers[0]?.args, ['--fast'])
    assert.deepEqual(pod.containers[0]?.env, [
      { name: 'MODEL', value: '/models/a.onnx' },
      { name: 'NEXT', value: 'http://vision-step-1.default.svc:80' },
    ])
  })

  it('rolls the phases of the steps up', async () => {
    await using cluster = await launch()
    await cluster.create()
    await cluster.advance(1_000)
    assert.equal((await cluster.status())?.phase, 'Pending')
    await cluster.setDeployment(0, available)
    assert.equal((await cluster.status())?.readySteps, '1/2')
    await cluster.setDeployment(1, available)
    assert.equal((await cluster.status())?.phase, 'Pending', 'the models are not there yet')
    await cluster.bind()
    assert.equal((await cluster.status())?.phase, 'Running')
    const message = 'ReplicaSet has timed out progressing.'
    await cluster.setDeployment(1, { conditions: [{ type: 'Progressing', status: 'False', message }] })
    const status = await cluster.status()
    assert.equal(status?.phase, 'Failed')
    assert.deepEqual(status.steps?.[1], { name: 'vision-step-1', phase: 'Failed', message })
  })

  it('follows steps that come, change and go', async () => {
    await using cluster = await launch()
    await cluster.create()
    await cluster.advance(1_000)
    await cluster.change({ steps: ['a', 'b', 'c'].map(step) })
    await cluster.advance(1_000)
    assert.deepEqual(await cluster.names(Deployment), ['vision-step-0', 'vision-step-1', 'vision-step-2'])
    assert.equal((await cluster.deploymentOf(0))?.spec?.template.spec?.nodeSelector, undefined)
    await cluster.change({ steps: [step('z')] })
    await cluster.advance(1_000)
    assert.deepEqual(await cluster.names(Deployment), ['vision-step-0'])
    assert.deepEqual(await cluster.names(Service), ['vision-step-0'])
    assert.equal((await cluster.status())?.steps?.length, 1)
  })

  it('puts right what others change', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.create()
    await cluster.advance(1_000)
    await run(client.delete(Service, { namespace, name: 'vision-step-0' }))
    const scaled = { spec: { replicas: 5 } }
    await run(client.patch(Deployment, { namespace, name: 'vision-step-1' }, scaled, { type: 'merge' }))
    await cluster.advance(1_000)
    assert.deepEqual(await cluster.names(Service), ['vision-step-0', 'vision-step-1'])
    assert.equal((await cluster.deploymentOf(1))?.spec?.replicas, 1)
  })

  it('does not let its storage be changed', async () => {
    await using cluster = await launch()
    await cluster.create()
    await assert.rejects(cluster.change({ modelStorage: { path: '/elsewhere' } }), {
      reason: 'Invalid',
      message: /volumes do not change/,
    })
  })

  it('takes all of it along when it goes, in the namespace and outside of it', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.create()
    await cluster.advance(1_000)
    await run(client.delete(Pipeline.v1beta1, key))
    await cluster.advance(30_000)
    assert.deepEqual(await cluster.names(Deployment), [])
    assert.deepEqual(await cluster.names(Service), [])
    for (const kind of [PersistentVolumeClaim, PersistentVolume] as const) {
      const left = await run(client.get(kind, kind.namespaced ? models : { name: models.name }))
      // Protection finalizers are taken off by the controllers of a whole cluster.
      assert.ok(!left || left.metadata.deletionTimestamp, kind.kind)
    }
  })

  it('ships the definition that its kind gives', () => {
    const shipped = readYaml(readFileSync(new URL('./crd.yaml', import.meta.url)))
    assert.deepEqual(shipped?.value, JSON.parse(JSON.stringify(toCustomResourceDefinition(Pipeline))))
  })
})
