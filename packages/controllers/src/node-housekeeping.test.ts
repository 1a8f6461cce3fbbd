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
import { parseCIDR } from '@coxswain/apimachinery/validation'
import {
  createLegacyTokenCleaner,
  createNodeIpamController,
  createPersistentVolumeProtectionController,
  createTtlController,
  createVolumeAttributesClassProtectionController,
  type NodeIpamOptions,
} from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import { scenariosOf } from '@coxswain/testing/test-support/play'

const ranges = (...texts: string[]) => texts.map(text => parseCIDR(text)!)

describe('pod CIDRs of nodes', () => {
  const scenario = scenariosOf('node-ipam-controller', {})
  const controllersWith = (options: NodeIpamOptions) => () => [createNodeIpamController(options)]
  const addNode = (cluster: Cluster, name: string, podCIDRs?: readonly string[]) =>
    cluster.run(
      cluster.client.create(Node, {
        metadata: { name },
        ...(podCIDRs && { spec: { podCIDR: podCIDRs[0]!, podCIDRs } }),
      }),
    )
  const rangesOf = async (cluster: Cluster) => {
    const { items } = await cluster.run(cluster.client.list(Node))
    return new Map(items.map(({ metadata, spec }) => [metadata.name, spec?.podCIDRs ?? []]))
  }

  scenario('are allocated from the cluster CIDR, each once, outside the service CIDR', {
    controllers: controllersWith({
      clusterCIDRs: ranges('10.244.0.0/22'),
      serviceCIDRs: ranges('10.244.1.0/25'),
    }),
    act: async cluster => {
      await addNode(cluster, 'old', ['10.244.2.0/24'])
      for (const name of ['n1', 'n2']) await addNode(cluster, name)
    },
    look: async cluster => [...(await rangesOf(cluster)).values()].flat().sort(),
    end: ['10.244.0.0/24', '10.244.2.0/24', '10.244.3.0/24'],
  })

  it('are assigned while the kubelet updates its node, without passing over a range', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }), controllers: false })
    const { client } = cluster
    cluster.start(createNodeIpamController({ clusterCIDRs: ranges('10.244.0.0/16') }))
    const update = async (name: string) => {
      await client.create(Node, { metadata: { name } })
      for (let beat = 0; beat < 6; beat++) {
        const change = { metadata: { annotations: { beat: `${beat}` } } }
        await client.patch(Node, { name }, change, { type: 'merge' })
      }
    }
    await cluster.run(Promise.all(['n1', 'n2', 'n3'].map(update)))
    await cluster.settle()
    const { items } = await cluster.run(client.list(Event, { namespace: 'default' }))
    assert.deepEqual(
      items.map(({ reason }) => reason),
      [],
    )
    const allocated = [...(await rangesOf(cluster)).values()].flat().sort()
    assert.deepEqual(allocated, ['10.244.0.0/24', '10.244.1.0/24', '10.244.2.0/24'])
  })

  scenario('are of both families in a dual-stack cluster', {
    controllers: controllersWith({
      clusterCIDRs: ranges('10.244.0.0/16', 'fd00:10:244::/56'),
      nodeMaskSizes: [26, 64],
    }),
    act: cluster => addNode(cluster, 'n1').then(() => {}),
    look: async cluster => {
      const node = await cluster.run(cluster.client.get(Node, { name: 'n1' }))
      const { podCIDR, podCIDRs = [] } = node?.spec ?? {}
      assert.equal(podCIDR, podCIDRs[0])
      return podCIDRs.map(text => text.replace(/^(10\.244|fd00:10:244:).*\//, '$1…/'))
    },
    end: ['10.244…/26', 'fd00:10:244:…/64'],
  })

  scenario('are awaited when the range is exhausted, and allocated when a node is deleted', {
    controllers: controllersWith({ clusterCIDRs: ranges('10.244.0.0/24') }),
    act: async cluster => {
      await addNode(cluster, 'n1')
      await cluster.advance(5_000)
      await addNode(cluster, 'n2')
      await cluster.advance(5_000)
      assert.deepEqual((await rangesOf(cluster)).get('n2'), [])
      await cluster.run(cluster.client.delete(Node, { name: 'n1' }))
    },
    look: async cluster => {
      const { items } = await cluster.run(cluster.client.list(Event, { namespace: 'default' }))
      const recorded = items.find(({ reason }) => reason === 'CIDRNotAvailable')
      return [[...(await rangesOf(cluster))], recorded?.message, recorded?.source?.component]
    },
    end: [[['n2', ['10.244.0.0/24']]], 'Node n2 status is now: CIDRNotAvailable', 'cidrAllocator'],
  })
})

describe('the TTL of secrets and config maps in kubelets', () => {
  const scenario = scenariosOf('ttl-controller', { controllers: () => [createTtlController()] })

  scenario('is set on every node, and grows with the number of nodes', {
    // The step of a controller that starts while nodes are deleted depends on when it starts.
    hasTroublesApart: true,
    act: async cluster => {
      const names = Array.from({ length: 101 }, (_, index) => `n${index}`)
      await cluster.run(cluster.client.create(Node, { metadata: { name: 'first' } }))
      await cluster.advance(2_000)
      const first = await cluster.run(cluster.client.get(Node, { name: 'first' }))
      assert.equal(first?.metadata.annotations?.['node.alpha.kubernetes.io/ttl'], '0')
      for (const name of names) await cluster.run(cluster.client.create(Node, { metadata: { name } }))
      await cluster.advance(10_000)
      // Steps overlap: one is left later than the next is entered.
      for (const name of names.slice(0, 9)) await cluster.run(cluster.client.delete(Node, { name }))
    },
    look: async cluster => {
      const { items } = await cluster.run(cluster.client.list(Node))
      return [...new Set(items.map(({ metadata }) => metadata.annotations?.['node.alpha.kubernetes.io/ttl']))]
    },
    end: ['15'],
  })
})

describe('VolumeAttributesClasses', () => {
  const key = { name: 'gold' }
  const get = (cluster: Cluster) => cluster.run(cluster.client.get(VolumeAttributesClass, key))
  const create = (cluster: Cluster) =>
    cluster.run(
      cluster.client.create(VolumeAttributesClass, {
        metadata: key,
        driverName: 'example.com',
        parameters: { iops: '100' },
      }),
    )
  const scenario = scenariosOf('volumeattributesclass-protection-controller', {
    controllers: () => [createVolumeAttributesClassProtectionController()],
    others: () => [createPersistentVolumeProtectionController()],
  })

  scenario('are kept while a claim or a volume refers to them', {
    act: async cluster => {
      const claim = { namespace: 'default', name: 'c' }
      await create(cluster)
      await cluster.run(
        cluster.client.create(PersistentVolumeClaim, {
          metadata: claim,
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
            volumeAttributesClassName: 'gold',
          },
        }),
      )
      await cluster.run(
        cluster.client.create(PersistentVolume, {
          metadata: { name: 'v' },
          spec: {
            capacity: { storage: '1Gi' },
            accessModes: ['ReadWriteOnce'],
            csi: { driver: 'example.com', volumeHandle: 'h' },
            volumeAttributesClassName: 'gold',
          },
        }),
      )
      await cluster.advance(2_000)
      assert.ok((await get(cluster))?.metadata.finalizers?.includes('kubernetes.io/vac-protection'))
      await cluster.run(cluster.client.delete(VolumeAttributesClass, key))
      await cluster.advance(2_000)
      await cluster.run(cluster.client.delete(PersistentVolume, { name: 'v' }))
      await cluster.advance(2_000)
      assert.ok(await get(cluster), 'the claim refers to it')
      const metadata = { finalizers: null }
      await cluster.run(cluster.client.patch(PersistentVolumeClaim, claim, { metadata }, { type: 'merge' }))
      await cluster.run(cluster.client.delete(PersistentVolumeClaim, claim))
    },
    look: get,
    end: undefined,
  })
})

describe('legacy tokens of service accounts', () => {
  const day = 86_400_000
  const key = { namespace: 'default', name: 'old-token' }
  const label = 'kubernetes.io/legacy-token-invalid-since'

  async function addToken(cluster: Cluster): Promise<void> {
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
  }
  const get = (cluster: Cluster) => cluster.run(cluster.client.get(Secret, key))
  const scenario = scenariosOf('legacy-serviceaccount-token-cleaner-controller', {
    controllers: () => [createLegacyTokenCleaner({ cleanUpPeriod: 0 })],
    hasHousekeeping: false,
    before: addToken,
  })

  scenario('are invalidated when they have not been used for a long time, and later deleted', {
    act: async (cluster, { isTroubled }) => {
      await cluster.advance(0.5 * day)
      assert.equal((await get(cluster))?.metadata.labels?.[label], undefined)
      if (!isTroubled) {
        await cluster.advance(0.7 * day)
        assert.match((await get(cluster))?.metadata.labels?.[label] ?? '', /^\d{4}-\d\d-\d\d$/)
      }
      // A conflict is retried on the next day.
      await cluster.advance((isTroubled ? 4 : 1) * day)
    },
    look: get,
    end: undefined,
  })

  scenario('are kept if they are used, mounted, or were created manually', {
    act: async cluster => {
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
      await cluster.advance(1.2 * day)
    },
    look: async cluster => {
      const { items } = await cluster.run(cluster.client.list(Secret, { namespace: 'default' }))
      const tokens = items.filter(({ type }) => type === 'kubernetes.io/service-account-token')
      return tokens.map(({ metadata }) => [metadata.name, metadata.labels?.[label]])
    },
    end: [
      ['asked-for', undefined],
      ['old-token', undefined],
    ],
  })
})
