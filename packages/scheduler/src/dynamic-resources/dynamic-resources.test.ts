import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Event, Pod } from '@coxswain/api/core/v1'
import {
  type Device,
  DeviceClass,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
} from '@coxswain/api/resource/v1'
import { formatTime } from '@coxswain/apimachinery/time'
import { createResourceClaimController } from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { createScheduler, readSchedulerConfiguration } from '@coxswain/scheduler'
import { type Cluster, startCluster } from '@coxswain/testing'
import { addNode } from '@coxswain/testing/test-support/add-node'
import { type Scenario, scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const driver = 'gpu.example.com'

const controllers: Scenario['controllers'] = () => [createScheduler(), createResourceClaimController()]

async function addDevices(cluster: Cluster, node: string, devices: readonly Device[]): Promise<void> {
  const spec = {
    driver,
    nodeName: node,
    pool: { name: node, generation: 1, resourceSliceCount: 1 },
    devices: [...devices],
  }
  await cluster.run(cluster.client.create(ResourceSlice, { metadata: { name: `${node}-gpus` }, spec }))
}

const gpus = (...names: string[]): Device[] => names.map(name => ({ name }))
const model = (name: string, string: string): Device => ({ name, attributes: { model: { string } } })

async function addClass(cluster: Cluster, more: object = {}): Promise<void> {
  const selectors = [{ cel: { expression: `device.driver == "${driver}"` } }]
  await cluster.run(
    cluster.client.create(DeviceClass, { metadata: { name: 'gpu' }, spec: { selectors, ...more } }),
  )
}

const wanting = (expression?: string, extras: object = {}) => ({
  devices: {
    requests: [
      {
        name: 'r',
        exactly: {
          deviceClassName: 'gpu',
          ...(expression !== undefined && { selectors: [{ cel: { expression } }] }),
          ...extras,
        },
      },
    ],
  },
})

const addClaim = (cluster: Cluster, name: string, spec: object = wanting()) =>
  cluster.run(cluster.client.create(ResourceClaim, { metadata: { name, namespace }, spec }))

const addTemplate = (cluster: Cluster, spec: object = wanting()) =>
  cluster.run(
    cluster.client.create(ResourceClaimTemplate, { metadata: { name: 't', namespace }, spec: { spec } }),
  )

const addPod = (cluster: Cluster, name: string, claim: object, spec: object = {}) =>
  cluster.run(
    cluster.client.create(Pod, {
      metadata: { name, namespace },
      spec: {
        containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'gpu' }] } }],
        resourceClaims: [{ name: 'gpu', ...claim }],
        ...spec,
      },
    }),
  )

const template = { resourceClaimTemplateName: 't' }
const shared = { resourceClaimName: 'shared' }

const getPod = (cluster: Cluster, name: string) => cluster.run(cluster.client.get(Pod, { namespace, name }))

async function listClaims(cluster: Cluster) {
  return (await cluster.run(cluster.client.list(ResourceClaim, { namespace }))).items
}

/** Sets the device status of the only claim, as its driver. */
async function tellOfDevice(cluster: Cluster, type: string): Promise<void> {
  const { client, run, env } = cluster
  const claim = (await listClaims(cluster))[0]!
  const { driver: by, pool, device } = claim.status.allocation!.devices!.results![0]!
  const lastTransitionTime = formatTime(env.clock.now())
  const condition = { type, status: 'True' as const, reason: 'Done', message: 'done', lastTransitionTime }
  const devices = [{ driver: by, pool, device, conditions: [condition] }]
  await run(client.updateStatus(ResourceClaim, { ...claim, status: { ...claim.status, devices } }))
}

/** Where the pods are, and the devices of claims: `claim: devices for pods`. Without generated suffixes. */
async function describeAll(cluster: Cluster): Promise<string[]> {
  const { items: pods } = await cluster.run(cluster.client.list(Pod, { namespace }))
  const claims = await listClaims(cluster)
  return [
    ...pods.map(({ metadata, spec }) => `${metadata.name} on ${spec.nodeName ?? 'none'}`),
    ...claims.map(({ metadata, status }) => {
      const devices = status?.allocation?.devices?.results?.map(({ device }) => device).join(' ') ?? 'nothing'
      const users = status?.reservedFor?.map(({ name }) => name).sort() ?? []
      return `${metadata.generateName ?? metadata.name}: ${devices} for ${users.join(' ') || 'none'}`
    }),
  ].sort()
}

const messageOf = async (cluster: Cluster, name: string) =>
  (await getPod(cluster, name))?.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message

const scenarios: readonly (Pick<Scenario, 'act' | 'end'> & { readonly name: string })[] = [
  {
    name: 'pods with claims from a template are scheduled to nodes with free devices',
    act: async (cluster, { isTroubled }) => {
      for (const node of ['n1', 'n2']) await addNode(cluster, node)
      await addClass(cluster)
      await addDevices(cluster, 'n1', gpus('a'))
      await addDevices(cluster, 'n2', gpus('b'))
      await addTemplate(cluster)
      for (const name of ['p', 'q', 's']) await addPod(cluster, name, template)
      await cluster.advance(isTroubled ? 120_000 : 5_000)
      const waiting: string[] = []
      for (const name of ['p', 'q', 's'])
        if (!(await getPod(cluster, name))?.spec.nodeName) waiting.push(name)
      assert.equal(waiting.length, 1)
      await cluster.run(
        cluster.client.delete(Pod, { namespace, name: waiting[0]! }, { gracePeriodSeconds: 0 }),
      )
      for (const name of ['p', 'q', 's'].filter(each => !waiting.includes(each)))
        await cluster.run(cluster.client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0 }))
    },
    end: [],
  },
  {
    name: 'a pod waits for devices, and gets those of a deleted pod',
    act: async cluster => {
      await addNode(cluster, 'n1')
      await addClass(cluster)
      await addDevices(cluster, 'n1', gpus('a'))
      await addTemplate(cluster)
      await addPod(cluster, 'p', template)
      await cluster.advance(10_000)
      await addPod(cluster, 'q', template)
      await cluster.advance(10_000)
      assert.equal((await getPod(cluster, 'q'))?.spec.nodeName, undefined)
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'p' }, { gracePeriodSeconds: 0 }))
    },
    end: ['q on n1', 'q-gpu-: a for q'],
  },
  {
    name: 'pods share a claim on the node of its devices',
    act: async cluster => {
      for (const node of ['n1', 'n2']) await addNode(cluster, node)
      await addClass(cluster)
      await addDevices(cluster, 'n2', gpus('a'))
      await addClaim(cluster, 'shared')
      for (const name of ['p', 'q']) await addPod(cluster, name, shared)
    },
    end: ['p on n2', 'q on n2', 'shared: a for p q'],
  },
  {
    name: 'selectors choose among devices, and a missing class is awaited',
    act: async (cluster, { isTroubled }) => {
      await addNode(cluster, 'n1')
      await addDevices(cluster, 'n1', [model('a', 'old'), model('b', 'new')])
      await addClaim(cluster, 'shared', wanting(`device.attributes["${driver}"].model == "new"`))
      await addPod(cluster, 'p', shared)
      await cluster.advance(isTroubled ? 60_000 : 2_000)
      assert.match(
        (await messageOf(cluster, 'p')) ?? '',
        /^0\/1 nodes are available: request r: device class gpu does not exist\./,
      )
      await addClass(cluster)
    },
    end: ['p on n1', 'shared: b for p'],
  },
  {
    name: "a claim that cannot be used on the pod's node is deallocated",
    act: async cluster => {
      for (const node of ['n1', 'n2']) await addNode(cluster, node)
      await addClass(cluster)
      await addDevices(cluster, 'n1', gpus('a'))
      await addClaim(cluster, 'shared')
      await addPod(cluster, 'p', shared)
      await cluster.advance(10_000)
      // The pod is deleted, but its claim is kept: no controller has observed it yet.
      const [claim] = await listClaims(cluster)
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'p' }, { gracePeriodSeconds: 0 }))
      await cluster.advance(5_000)
      const now = (await listClaims(cluster))[0]!
      const status = { allocation: claim!.status.allocation! }
      await cluster.run(cluster.client.updateStatus(ResourceClaim, { ...now, status }))
      await addDevices(cluster, 'n2', gpus('b'))
      await addPod(cluster, 'q', shared, { nodeSelector: { 'kubernetes.io/hostname': 'n2' } })
    },
    end: ['q on n2', 'shared: b for q'],
  },
  {
    name: 'a pod with an extended resource gets a claim for the devices of its class',
    act: async cluster => {
      await addNode(cluster, 'n1')
      await addClass(cluster, { extendedResourceName: 'example.com/gpu' })
      await addDevices(cluster, 'n1', gpus('a', 'b', 'c'))
      const amounts = { 'example.com/gpu': '2' }
      const resources = { requests: amounts, limits: amounts }
      const spec = { containers: [{ name: 'c', image: 'i', resources }] }
      await cluster.run(cluster.client.create(Pod, { metadata: { name: 'p', namespace }, spec }))
    },
    end: ['p on n1', 'p-extended-resources-: a b for p'],
  },
  {
    name: 'a pod is bound when the driver has prepared its device',
    act: async cluster => {
      await addNode(cluster, 'n1')
      await addClass(cluster)
      const [bindingConditions, bindingFailureConditions] = [['attached'], ['lost']]
      const conditions = { bindsToNode: true, bindingConditions, bindingFailureConditions }
      await addDevices(cluster, 'n1', [{ name: 'a', ...conditions }])
      await addClaim(cluster, 'shared')
      await addPod(cluster, 'p', shared)
      await cluster.advance(20_000)
      assert.equal((await getPod(cluster, 'p'))?.spec.nodeName, undefined)
      await tellOfDevice(cluster, 'attached')
    },
    end: ['p on n1', 'shared: a for p'],
  },
]

describe('dynamic resources, with stale caches, conflicts and a scheduler that is killed', () => {
  const scenario = scenariosOf('kube-scheduler: DynamicResources', { controllers, look: describeAll })
  for (const { name, ...rest } of scenarios) scenario(name, rest)
})

describe('the devices of a pod', () => {
  async function launch() {
    const cluster = await startCluster({ env: new VirtualWorld({ seed: 2 }) })
    for (const operator of controllers()) cluster.start(operator)
    await addClass(cluster)
    for (const node of ['n1', 'n2', 'n3']) await addNode(cluster, node)
    return cluster
  }

  it('favor the node with the better alternative', async () => {
    await using cluster = await launch()
    await addDevices(cluster, 'n1', [model('a', 'good')])
    await addDevices(cluster, 'n2', [model('b', 'best')])
    await addDevices(cluster, 'n3', [model('c', 'good')])
    const sub = (name: string) => ({
      name,
      deviceClassName: 'gpu',
      selectors: [{ cel: { expression: `device.attributes["${driver}"].model == "${name}"` } }],
    })
    const firstAvailable = [sub('best'), sub('good')]
    await addClaim(cluster, 'shared', { devices: { requests: [{ name: 'r', firstAvailable }] } })
    await addPod(cluster, 'p', shared)
    await cluster.advance(2_000)
    assert.deepEqual(await describeAll(cluster), ['p on n2', 'shared: b for p'])
  })

  it('are retried when there are more', async () => {
    await using cluster = await launch()
    await addDevices(cluster, 'n1', [{ name: 'a', taints: [{ key: 'hot', effect: 'NoSchedule' }] }])
    await addClaim(cluster, 'shared')
    await addPod(cluster, 'p', shared)
    await cluster.advance(5_000)
    assert.equal(
      await messageOf(cluster, 'p'),
      '0/3 nodes are available: 3 cannot allocate all claims. still not schedulable, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
    )
    await addDevices(cluster, 'n3', gpus('b'))
    await cluster.advance(5_000)
    assert.deepEqual(await describeAll(cluster), ['p on n3', 'shared: b for p'])
  })

  it('are released when the driver cannot prepare them', async () => {
    await using cluster = await launch()
    const conditions = {
      bindsToNode: true,
      bindingConditions: ['attached'],
      bindingFailureConditions: ['lost'],
    }
    await addDevices(cluster, 'n1', [{ name: 'a', ...conditions }])
    await addClaim(cluster, 'shared')
    await addPod(cluster, 'p', shared)
    await cluster.advance(5_000)
    await tellOfDevice(cluster, 'lost')
    await addDevices(cluster, 'n2', gpus('b'))
    await cluster.run(cluster.client.delete(ResourceSlice, { name: 'n1-gpus' }))
    await cluster.advance(30_000)
    assert.deepEqual(await describeAll(cluster), ['p on n2', 'shared: b for p'])
    const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
    const reasons = new Set(items.map(({ reason }) => reason))
    assert.ok(reasons.has('BindingConditionsPending'))
  })

  it('are not allocated twice by two profiles at once', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 6 }) })
    const profiles = ['one', 'two'].map(schedulerName => ({ schedulerName }))
    const [apiVersion, kind] = ['kubescheduler.config.k8s.io/v1', 'KubeSchedulerConfiguration']
    cluster.start(createScheduler(readSchedulerConfiguration({ apiVersion, kind, profiles })))
    cluster.start(createResourceClaimController())
    await addClass(cluster)
    await addNode(cluster, 'n1')
    await addDevices(cluster, 'n1', gpus('a', 'b', 'c'))
    await addTemplate(cluster)
    const names = ['p', 'q', 'r', 's', 't', 'u']
    const { client } = cluster
    const made = names.map((name, index) =>
      client.create(Pod, {
        metadata: { name, namespace },
        spec: {
          schedulerName: index % 2 === 0 ? 'one' : 'two',
          containers: [{ name: 'c', image: 'i' }],
          resourceClaims: [{ name: 'gpu', ...template }],
        },
      }),
    )
    await cluster.run(Promise.all(made))
    await cluster.advance(30_000)
    const given = (await listClaims(cluster)).flatMap(
      ({ status }) => status?.allocation?.devices?.results?.map(({ device }) => device) ?? [],
    )
    assert.deepEqual(given.sort(), ['a', 'b', 'c'])
  })
})
