import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Deployment } from '@coxswain/api/apps/v1'
import { Namespace, PersistentVolume, PersistentVolumeClaim, Service } from '@coxswain/api/core/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { type CreateOf, toCustomResourceDefinition } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { createPipelineOperator, definePipeline, finalizer, Pipeline } from './operator.ts'

const readFile = (name: string) => readYaml(readFileSync(new URL(name, import.meta.url)))?.value
/** The manifest of the authors: `type` is in csiParameter, the args of the second step are {}. */
const sample = readFile('./sample.yaml') as CreateOf<typeof Pipeline.v1beta1>
const [first, second] = sample.spec.steps
assert.ok(first && second)
const key = { name: 'facedetection-pipeline' }

async function launch({ kind = Pipeline, run: what = operator, namespace = 'pipeline' } = {}) {
  const cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
  const { client, run } = cluster
  await run(client.create(Namespace, { metadata: { name: namespace } }))
  await cluster.install(what)
  cluster.start(what)
  await cluster.advance(1_000)
  const own = kind.v1beta1.namespaced ? { namespace, ...key } : key
  const claimKey = { namespace, name: `${key.name}-pvc` }
  const volumeKey = { name: kind.v1beta1.namespaced ? `${namespace}-${key.name}-pv` : `${key.name}-pv` }
  const deploymentOf = (name: string) => run(client.get(Deployment, { namespace, name }))
  return {
    ...cluster,
    deploymentOf,
    async create(spec = sample.spec) {
      await run(client.create(kind.v1beta1, { ...sample, metadata: own, spec }))
      await cluster.advance(1_000)
    },
    async change(spec: object) {
      await run(client.patch(kind.v1beta1, own, { spec }, { type: 'merge' }))
      await cluster.advance(30_000)
    },
    async delete() {
      await run(client.delete(kind.v1beta1, own))
      await cluster.advance(30_000)
    },
    get: () => run(client.get(kind.v1beta1, own)),
    status: async () => (await run(client.get(kind.v1beta1, own)))?.status,
    volume: () => run(client.get(PersistentVolume, volumeKey)),
    claim: () => run(client.get(PersistentVolumeClaim, claimKey)),
    names: async (which: typeof Deployment | typeof Service) =>
      (await run(client.list(which, { namespace, labelSelector: `pipeline=${key.name}` }))).items
        .map(({ metadata }) => metadata.name)
        .sort(),
    /** What the controllers of a cluster report. */
    async setDeployment(name: string, status: NonNullable<Deployment['status']>) {
      const deployment = await deploymentOf(name)
      assert.ok(deployment)
      await run(client.updateStatus(Deployment, { ...deployment, status }))
      await cluster.advance(1_000)
    },
    async bind() {
      const claim = await run(client.get(PersistentVolumeClaim, claimKey))
      const volume = await run(client.get(PersistentVolume, volumeKey))
      assert.ok(claim && volume)
      await run(client.updateStatus(PersistentVolumeClaim, { ...claim, status: { phase: 'Bound' } }))
      await run(client.updateStatus(PersistentVolume, { ...volume, status: { phase: 'Bound' } }))
      await cluster.advance(1_000)
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

const ready = { replicas: 1, readyReplicas: 1, availableReplicas: 1 }

describe('the pipeline operator', () => {
  it('makes a volume, a claim, and a Deployment with a Service for each model', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.create()
    const volume = await cluster.volume()
    assert.deepEqual(volume?.spec?.csi, {
      driver: 'nfs.csi.k8s.io',
      volumeHandle: '192.0.2.1//home/aiedge/csiTest/facedetection-pipeline',
      volumeAttributes: { server: '192.0.2.1', share: '/home/aiedge/csiTest/facedetection-pipeline' },
    })
    assert.equal((await cluster.claim())?.spec?.volumeName, 'facedetection-pipeline-pv')
    assert.deepEqual(await cluster.names(Deployment), ['facedetection-1', 'facedetection-2'])
    assert.deepEqual(await cluster.names(Service), ['facedetection-1', 'facedetection-2'])

    const uid = (await cluster.get())?.metadata.uid
    const owner = {
      apiVersion: 'distri-infer.ndsl.cn/v1beta1',
      kind: 'Pipeline',
      name: key.name,
      uid,
      controller: true,
      blockOwnerDeletion: true,
    }
    const deployment = await cluster.deploymentOf('facedetection-1')
    const service = await run(client.get(Service, { namespace: 'pipeline', name: 'facedetection-2' }))
    for (const object of [volume, await cluster.claim(), deployment, service])
      assert.deepEqual(object?.metadata.ownerReferences, [owner])
    assert.deepEqual(deployment?.metadata.labels, { pipeline: key.name, step: '1' })
    assert.deepEqual(service?.metadata.labels, { pipeline: key.name, step: '2' })
    assert.deepEqual(service?.spec?.ports?.[0]?.targetPort, 9080, 'the default, for its args are {}')

    const pod = deployment?.spec?.template.spec
    const required = pod?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    assert.deepEqual(required?.nodeSelectorTerms[0]?.matchExpressions, [
      { key: 'kubernetes.io/hostname', operator: 'In', values: ['node-1'] },
    ])
    assert.deepEqual(pod?.containers[0]?.env, [
      { name: 'begin', value: 'true' },
      { name: 'dst', value: 'facedetection-2' },
      { name: 'modelPath', value: '/data/facedetection-1' },
      { name: 'listenPort', value: '9080' },
      { name: 'args', value: '{"listenPort":"9080"}' },
    ])
  })

  it('takes type beside csiParameter too, and refuses storage without a type', async () => {
    await using cluster = await launch()
    const { type, ...csiParameter } = sample.spec.modelStorage.csiParameter
    assert.ok(type)
    await assert.rejects(cluster.create({ ...sample.spec, modelStorage: { csiParameter } }), {
      reason: 'Invalid',
      message: /type is required, here or in csiParameter/,
    })
    await cluster.create({ ...sample.spec, modelStorage: { csiParameter, type: 'smb' } })
    assert.equal((await cluster.volume())?.spec?.csi?.driver, 'smb.csi.k8s.io')
  })

  it('is Available when the volume is bound and all steps are ready, with the details', async () => {
    await using cluster = await launch()
    await cluster.create()
    const none = { deploymentPhase: '0/0', servicePhase: 'Available' }
    assert.deepEqual(await cluster.status(), {
      phase: 'UnAvailable',
      detailPhase: { pvPhase: 'Pending', pvcPhase: 'Pending', stepsPhase: [none, none] },
    })
    await cluster.setDeployment('facedetection-1', ready)
    await cluster.setDeployment('facedetection-2', ready)
    assert.equal((await cluster.status())?.phase, 'UnAvailable', 'the models are not there yet')
    await cluster.bind()
    const step = { deploymentPhase: '1/1', servicePhase: 'Available' }
    assert.deepEqual(await cluster.status(), {
      phase: 'Available',
      detailPhase: { pvPhase: 'Bound', pvcPhase: 'Bound', stepsPhase: [step, step] },
    })
    await cluster.setDeployment('facedetection-2', { replicas: 1 })
    const status = await cluster.status()
    assert.equal(status?.phase, 'UnAvailable')
    assert.equal(status.detailPhase?.stepsPhase?.[1]?.deploymentPhase, '0/1')
  })

  it('follows steps that are added, moved and removed', async () => {
    await using cluster = await launch()
    await cluster.create()
    await cluster.change({ steps: [second, first, { ...first, model: 'crop' }] })
    assert.deepEqual(await cluster.names(Deployment), ['crop', 'facedetection-1', 'facedetection-2'])
    const moved = await cluster.deploymentOf('facedetection-1')
    assert.equal(moved?.metadata.labels?.step, '2')
    assert.equal(moved.spec?.selector.matchLabels?.step, '2', 'made again: selectors are immutable')
    await cluster.change({ steps: [second] })
    assert.deepEqual(await cluster.names(Deployment), ['facedetection-2'])
    assert.deepEqual(await cluster.names(Service), ['facedetection-2'])
    assert.equal((await cluster.status())?.detailPhase?.stepsPhase?.length, 1)
  })

  it('reverts what others change', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.create()
    await run(client.delete(Service, { namespace: 'pipeline', name: 'facedetection-1' }))
    const scaled = { spec: { replicas: 5 } }
    const scaledKey = { namespace: 'pipeline', name: 'facedetection-2' }
    await run(client.patch(Deployment, scaledKey, scaled, { type: 'merge' }))
    await cluster.advance(1_000)
    assert.deepEqual(await cluster.names(Service), ['facedetection-1', 'facedetection-2'])
    assert.equal((await cluster.deploymentOf('facedetection-2'))?.spec?.replicas, 1)
  })

  it('refuses other storage, and two steps with one model', async () => {
    await using cluster = await launch()
    await cluster.create()
    const csiParameter = { share: '/elsewhere' }
    await assert.rejects(cluster.change({ modelStorage: { csiParameter } }), {
      reason: 'Invalid',
      message: /volumes are immutable/,
    })
    await assert.rejects(cluster.change({ steps: [first, first] }), { reason: 'Invalid' })
  })

  it('leaves nothing behind when it is deleted, in the namespace and outside of it', async () => {
    await using cluster = await launch()
    await cluster.create()
    await cluster.delete()
    assert.deepEqual(await cluster.names(Deployment), [])
    assert.deepEqual(await cluster.names(Service), [])
    // Protection finalizers are removed by the controllers of a whole cluster.
    for (const left of [await cluster.claim(), await cluster.volume()])
      assert.ok(!left || left.metadata.deletionTimestamp)
  })

  it('can be namespaced: all of it is in the namespace of the Pipeline, and the volume is deleted with it', async () => {
    const kind = definePipeline('Namespaced')
    await using cluster = await launch({ kind, run: createPipelineOperator(kind), namespace: 'team' })
    await cluster.create()
    assert.deepEqual((await cluster.get())?.metadata.finalizers, [finalizer])
    assert.deepEqual(await cluster.names(Deployment), ['facedetection-1', 'facedetection-2'])
    assert.equal((await cluster.volume())?.metadata.ownerReferences, undefined)
    await cluster.setDeployment('facedetection-1', ready)
    await cluster.setDeployment('facedetection-2', ready)
    await cluster.bind()
    assert.equal((await cluster.status())?.phase, 'Available')
    await cluster.delete()
    assert.equal(await cluster.get(), undefined)
    const volume = await cluster.volume()
    assert.ok(!volume || volume.metadata.deletionTimestamp)
  })

  it('ships the definition that its kind gives', () => {
    assert.deepEqual(readFile('./crd.yaml'), JSON.parse(JSON.stringify(toCustomResourceDefinition(Pipeline))))
  })
})
