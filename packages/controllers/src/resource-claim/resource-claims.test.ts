import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Event, Pod } from '@coxswain/api/core/v1'
import { ResourceClaim, ResourceClaimTemplate } from '@coxswain/api/resource/v1'
import { createResourceClaimController } from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import { type Scenario, scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const spec = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] } }
const finalizer = 'resource.kubernetes.io/delete-protection'

const createTemplate = (cluster: Cluster) =>
  cluster.run(
    cluster.client.create(ResourceClaimTemplate, {
      metadata: { name: 't', namespace },
      spec: { metadata: { labels: { from: 't' } }, spec },
    }),
  )

const createPod = (cluster: Cluster, name: string, claim: object, nodeName?: string) =>
  cluster.run(
    cluster.client.create(Pod, {
      metadata: { name, namespace },
      spec: {
        containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'gpu' }] } }],
        resourceClaims: [{ name: 'gpu', ...claim }],
        ...(nodeName && { nodeName }),
      },
    }),
  )

const deletePod = (cluster: Cluster, name: string) =>
  cluster.run(cluster.client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0 }))

/** Acts as the scheduler for these pods. */
async function allocate(cluster: Cluster, name: string, ...pods: string[]): Promise<void> {
  const key = { namespace, name }
  const claim = await cluster.run(cluster.client.get(ResourceClaim, key))
  const metadata = { ...claim!.metadata, finalizers: [finalizer] }
  const held = await cluster.run(cluster.client.update(ResourceClaim, { ...claim!, metadata }))
  const reservedFor = []
  for (const pod of pods) {
    const found = await cluster.run(cluster.client.get(Pod, { namespace, name: pod }))
    reservedFor.push({ resource: 'pods', name: pod, uid: found!.metadata.uid })
  }
  const results = [{ request: 'r', driver: 'd.example.com', pool: 'p', device: 'x' }]
  const status = { allocation: { devices: { results } }, ...(pods.length > 0 && { reservedFor }) }
  await cluster.run(cluster.client.updateStatus(ResourceClaim, { ...held, status }))
}

/** `claim from its owner: reserved for`, without generated suffixes. */
async function describeClaims(cluster: Cluster): Promise<string[]> {
  const { items } = await cluster.run(cluster.client.list(ResourceClaim, { namespace }))
  return items
    .map(({ metadata, status }) =>
      [
        metadata.generateName ? `${metadata.generateName}*` : metadata.name,
        `of ${metadata.ownerReferences?.[0]?.name ?? 'none'}`,
        status?.allocation ? 'allocated' : 'free',
        // A crash may leave it on a free one, which is harmless.
        ...(status?.allocation ? (metadata.finalizers ?? []).map(() => 'protected') : []),
        ...(status?.reservedFor ?? []).map(({ name }) => `for ${name}`),
      ].join(' '),
    )
    .sort()
}

const createShared = (cluster: Cluster) =>
  cluster.run(cluster.client.create(ResourceClaim, { metadata: { name: 'shared', namespace }, spec }))

const shared = { resourceClaimName: 'shared' }

const plays: readonly (Pick<Scenario, 'act' | 'end'> & { readonly name: string })[] = [
  {
    name: 'a pod gets a claim from its template',
    act: async cluster => {
      await createTemplate(cluster)
      await createPod(cluster, 'p', { resourceClaimTemplateName: 't' })
    },
    end: ['p-gpu-* of p free'],
  },
  {
    name: 'the claim of a finished pod is deleted before the pod',
    act: async cluster => {
      await createTemplate(cluster)
      await createPod(cluster, 'p', { resourceClaimTemplateName: 't' })
      await cluster.advance(5_000)
      const status = { phase: 'Succeeded' }
      const key = { namespace, name: 'p' }
      await cluster.run(cluster.client.patch(Pod, key, { status }, { type: 'merge', subresource: 'status' }))
    },
    end: [],
  },
  {
    name: 'a claim loses the reservation of a deleted pod, and keeps the others',
    act: async cluster => {
      await createShared(cluster)
      for (const name of ['p', 'q']) await createPod(cluster, name, shared)
      await allocate(cluster, 'shared', 'p', 'q')
      await cluster.advance(5_000)
      await deletePod(cluster, 'p')
    },
    end: ['shared of none allocated protected for q'],
  },
  {
    name: 'a claim is deallocated with its last pod',
    act: async cluster => {
      await createShared(cluster)
      await createPod(cluster, 'p', shared)
      await allocate(cluster, 'shared', 'p')
      await cluster.advance(5_000)
      await deletePod(cluster, 'p')
    },
    end: ['shared of none free'],
  },
  {
    name: 'a claim that is being deleted is released when it is unused',
    act: async cluster => {
      await createShared(cluster)
      await allocate(cluster, 'shared')
      await cluster.run(cluster.client.delete(ResourceClaim, { namespace, name: 'shared' }))
    },
    end: [],
  },
  {
    name: 'a pod that was bound without the scheduler gets its claim reserved',
    act: async cluster => {
      await createShared(cluster)
      await allocate(cluster, 'shared')
      await createPod(cluster, 'p', shared, 'n1')
    },
    end: ['shared of none allocated protected for p'],
  },
]

describe('resource claims, with the controller killed after any write', () => {
  const controllers = () => [createResourceClaimController()]
  const scenario = scenariosOf('resourceclaim-controller', { controllers, look: describeClaims })
  for (const { name, ...play } of plays) scenario(name, play)

  it('are named in the status of the pod they were generated for', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
    for (const controller of controllers()) cluster.start(controller)
    await cluster.advance(1_000)
    await createPod(cluster, 'p', { resourceClaimTemplateName: 't' })
    await cluster.advance(1_000)
    const { items: events } = await cluster.run(cluster.client.list(Event, { namespace }))
    const text =
      'PodResourceClaim gpu: resource claim template "t": resourceclaimtemplate.resource.k8s.io "t" not found'
    assert.ok(events.some(({ message }) => message === text))
    await createTemplate(cluster)
    await cluster.advance(2_000)
    const { items } = await cluster.run(cluster.client.list(ResourceClaim, { namespace }))
    assert.equal(items[0]?.metadata.annotations?.['resource.kubernetes.io/pod-claim-name'], 'gpu')
    assert.equal(items[0]?.metadata.labels?.from, 't')
    const pod = await cluster.run(cluster.client.get(Pod, { namespace, name: 'p' }))
    assert.deepEqual(pod?.status?.resourceClaimStatuses, [
      { name: 'gpu', resourceClaimName: items[0]?.metadata.name },
    ])
  })
})
