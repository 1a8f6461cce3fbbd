import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  Event,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  ServiceAccount,
} from '@coxswain/api/core/v1'
import { VolumeAttributesClass } from '@coxswain/api/storage/v1'
import { parseCIDR } from '@coxswain/apimachinery'
import {
  createLegacyTokenCleaner,
  createNodeIpamController,
  createTtlController,
  createVolumeAttributesClassProtectionController,
  type NodeIpamOptions,
} from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from './cluster.ts'
import { playWorkload, type WorkloadStage } from './test-support/play-workload.ts'

const ranges = (...texts: string[]) => texts.map(text => parseCIDR(text)!)

describe('ranges of nodes', () => {
  const operatorsWith = (options: NodeIpamOptions) => () => [createNodeIpamController(options)]
  const addNode = (stage: WorkloadStage, name: string, podCIDRs?: readonly string[]) =>
    stage.run(
      stage.client.create(Node, {
        metadata: { name },
        ...(podCIDRs && { spec: { podCIDR: podCIDRs[0]!, podCIDRs } }),
      }),
    )
  const rangesOf = async (stage: WorkloadStage) => {
    const { items } = await stage.run(stage.client.list(Node))
    return new Map(items.map(({ metadata, spec }) => [metadata.name, spec?.podCIDRs ?? []]))
  }

  it('are cut out of the cluster’s, each only once, and not out of what services have', () =>
    playWorkload(
      {
        operators: operatorsWith({
          clusterCIDRs: ranges('10.244.0.0/22'),
          serviceCIDRs: ranges('10.244.1.0/25'),
        }),
        act: async stage => {
          await addNode(stage, 'old', ['10.244.2.0/24'])
          for (const name of ['n1', 'n2']) await addNode(stage, name)
        },
        end: async stage => [...(await rangesOf(stage)).values()].flat().sort(),
      },
      ['10.244.0.0/24', '10.244.2.0/24', '10.244.3.0/24'],
    ))

  it('are of both families where the cluster has both', () =>
    playWorkload(
      {
        operators: operatorsWith({
          clusterCIDRs: ranges('10.244.0.0/16', 'fd00:10:244::/56'),
          nodeMaskSizes: [26, 64],
        }),
        act: stage => addNode(stage, 'n1').then(() => {}),
        end: async stage => {
          const node = await stage.run(stage.client.get(Node, { name: 'n1' }))
          const { podCIDR, podCIDRs = [] } = node?.spec ?? {}
          assert.equal(podCIDR, podCIDRs[0])
          return podCIDRs.map(text => text.replace(/^(10\.244|fd00:10:244:).*\//, '$1…/'))
        },
      },
      ['10.244…/26', 'fd00:10:244:…/64'],
    ))

  it('are waited for when there are none left, and had when a node goes', () =>
    playWorkload(
      {
        operators: operatorsWith({ clusterCIDRs: ranges('10.244.0.0/24') }),
        act: async stage => {
          await addNode(stage, 'n1')
          await stage.later(5_000)
          await addNode(stage, 'n2')
          await stage.later(5_000)
          assert.deepEqual((await rangesOf(stage)).get('n2'), [])
          await stage.run(stage.client.delete(Node, { name: 'n1' }))
        },
        end: async stage => {
          const { items } = await stage.run(stage.client.list(Event, { namespace: 'default' }))
          const told = items.find(({ reason }) => reason === 'CIDRNotAvailable')
          return [[...(await rangesOf(stage))], told?.message, told?.source?.component]
        },
      },
      [[['n2', ['10.244.0.0/24']]], 'Node n2 status is now: CIDRNotAvailable', 'cidrAllocator'],
    ))
})

describe('how long kubelets may keep what they have read', () => {
  it('is said on every node, and grows with their number', () =>
    playWorkload(
      {
        operators: () => [createTtlController()],
        act: async stage => {
          const names = Array.from({ length: 101 }, (_, index) => `n${index}`)
          await stage.run(stage.client.create(Node, { metadata: { name: 'first' } }))
          await stage.later(2_000)
          const first = await stage.run(stage.client.get(Node, { name: 'first' }))
          assert.equal(first?.metadata.annotations?.['node.alpha.kubernetes.io/ttl'], '0')
          for (const name of names) await stage.run(stage.client.create(Node, { metadata: { name } }))
          await stage.later(10_000)
          // One step is left later than the next one is entered.
          for (const name of names.slice(0, 9)) await stage.run(stage.client.delete(Node, { name }))
        },
        end: async stage => {
          const { items } = await stage.run(stage.client.list(Node))
          return [
            ...new Set(items.map(({ metadata }) => metadata.annotations?.['node.alpha.kubernetes.io/ttl'])),
          ]
        },
      },
      ['15'],
    ))
})

describe('classes of volume attributes', () => {
  const key = { name: 'gold' }
  const get = (stage: WorkloadStage) => stage.run(stage.client.get(VolumeAttributesClass, key))
  const create = (stage: WorkloadStage) =>
    stage.run(
      stage.client.create(VolumeAttributesClass, {
        metadata: key,
        driverName: 'example.com',
        parameters: { iops: '100' },
      }),
    )
  const operators = () => [createVolumeAttributesClassProtectionController()]

  it('stay as long as a claim or a volume names them', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          const claim = { namespace: 'default', name: 'c' }
          await create(stage)
          await stage.run(
            stage.client.create(PersistentVolumeClaim, {
              metadata: claim,
              spec: {
                accessModes: ['ReadWriteOnce'],
                resources: { requests: { storage: '1Gi' } },
                volumeAttributesClassName: 'gold',
              },
            }),
          )
          await stage.run(
            stage.client.create(PersistentVolume, {
              metadata: { name: 'v' },
              spec: {
                capacity: { storage: '1Gi' },
                accessModes: ['ReadWriteOnce'],
                csi: { driver: 'example.com', volumeHandle: 'h' },
                volumeAttributesClassName: 'gold',
              },
            }),
          )
          await stage.later(2_000)
          assert.ok((await get(stage))?.metadata.finalizers?.includes('kubernetes.io/vac-protection'))
          await stage.run(stage.client.delete(VolumeAttributesClass, key))
          await stage.later(2_000)
          await stage.run(stage.client.delete(PersistentVolume, { name: 'v' }))
          await stage.later(2_000)
          assert.ok(await get(stage), 'the claim names it')
          const metadata = { finalizers: null }
          await stage.run(stage.client.patch(PersistentVolumeClaim, claim, { metadata }, { type: 'merge' }))
          await stage.run(stage.client.delete(PersistentVolumeClaim, claim))
        },
        end: get,
      },
      undefined,
    ))
})

describe('tokens that accounts were once given by themselves', () => {
  const day = 86_400_000
  const key = { namespace: 'default', name: 'old-token' }
  const label = 'kubernetes.io/legacy-token-invalid-since'

  async function clusterWithToken(): Promise<Cluster> {
    const cluster = await startCluster({ env: new VirtualWorld({ seed: 5 }), controllers: false })
    const { client } = cluster
    const secrets = [{ name: key.name }]
    await cluster.run(
      client.create(ServiceAccount, { metadata: { namespace: 'default', name: 'robot' }, secrets }),
    )
    await cluster.run(
      client.create(Secret, {
        metadata: { ...key, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
        type: 'kubernetes.io/service-account-token',
      }),
    )
    return cluster
  }
  const get = (cluster: Cluster) => cluster.run(cluster.client.get(Secret, key))

  it('are made invalid when nobody has used them for long, and deleted when nobody has missed them', async () => {
    await using cluster = await clusterWithToken()
    cluster.start(createLegacyTokenCleaner({ cleanUpPeriod: day }))
    await cluster.advance(1.5 * day)
    assert.equal((await get(cluster))?.metadata.labels?.[label], undefined)
    await cluster.advance(day)
    assert.match((await get(cluster))?.metadata.labels?.[label] ?? '', /^\d{4}-\d\d-\d\d$/)
    await cluster.advance(day)
    assert.ok(await get(cluster))
    await cluster.advance(day)
    assert.equal(await get(cluster), undefined)
  })

  it('stay when they are used, mounted, or were asked for', async () => {
    await using cluster = await clusterWithToken()
    const { client } = cluster
    await cluster.run(
      client.create(Pod, {
        metadata: { namespace: 'default', name: 'p' },
        spec: {
          serviceAccountName: 'robot',
          containers: [{ name: 'c', image: 'i' }],
          volumes: [{ name: 't', secret: { secretName: key.name } }],
        },
      }),
    )
    await cluster.run(
      client.create(Secret, {
        metadata: {
          namespace: 'default',
          name: 'asked-for',
          annotations: { 'kubernetes.io/service-account.name': 'robot' },
        },
        type: 'kubernetes.io/service-account-token',
      }),
    )
    cluster.start(createLegacyTokenCleaner({ cleanUpPeriod: day }))
    await cluster.advance(3.5 * day)
    const { items } = await cluster.run(client.list(Secret, { namespace: 'default' }))
    const tokens = items.filter(({ type }) => type === 'kubernetes.io/service-account-token')
    assert.deepEqual(
      tokens.map(({ metadata }) => [metadata.name, metadata.labels?.[label]]),
      [
        ['asked-for', undefined],
        ['old-token', undefined],
      ],
    )
  })
})
