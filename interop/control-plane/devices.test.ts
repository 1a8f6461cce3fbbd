import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pod, ServiceAccount } from '@coxswain/api/core/v1'
import { ResourceClaim } from '@coxswain/api/resource/v1'
import type { Client } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { runOperator } from '@coxswain/runtime'
import { createScheduler } from '@coxswain/scheduler'
import { create } from '../../packages/testing/src/test-support/scheduling/apply-step.ts'
import { startServer } from '../support/coxswain.ts'
import { claims, cluster, pods } from './devices/cases.ts'
import { startRealScheduler } from './kube-scheduler.ts'

const namespace = 'default'
const key = { namespace, name: 'p' }
const longest = 15_000

/** A server of ours with the devices, and no scheduler. */
async function openClient(stack: AsyncDisposableStack): Promise<{ client: Client; kubeconfig: string }> {
  const { kubeconfig } = stack.use(await startServer('--controllers', 'none'))
  const env = createRealEnv()
  const options = { kubeconfig, environment: {}, env, userAgent: 'devices/0.1', onWarning: () => {} }
  const { client } = stack.use(await createClientFromKubeconfig(options))
  for (const given of cluster) await create(client, given)
  await create(client, [ServiceAccount, { metadata: { name: 'default', namespace } }])
  return { client, kubeconfig }
}

/** What a scheduler has made of a pod and its claims, without what is different each time. */
async function play(client: Client, spec: object, devices?: object): Promise<object> {
  if (devices)
    await create(client, [ResourceClaim, { metadata: { name: 'c', namespace }, spec: { devices } }])
  await create(client, [Pod, { metadata: key, spec: { terminationGracePeriodSeconds: 0, ...spec } }])
  const deadline = performance.now() + longest
  let pod = await client.get(Pod, key)
  const isDecided = () => pod?.spec.nodeName || pod?.status?.conditions?.[0]?.status === 'False'
  while (!isDecided() && performance.now() < deadline) {
    await sleep(50)
    pod = await client.get(Pod, key)
  }
  assert.ok(isDecided(), 'the pod was not looked at')
  const { items } = await client.list(ResourceClaim, { namespace })
  const [condition] = pod?.status?.conditions ?? []
  const { extendedResourceClaimStatus: extended } = pod?.status ?? {}
  const outcome = {
    node: pod?.spec.nodeName,
    reason: condition?.reason,
    message: condition?.message,
    mappings: extended?.requestMappings,
    claims: items.map(({ metadata, spec: claimed, status }) => ({
      metadata: [metadata.generateName, metadata.annotations, metadata.finalizers],
      spec: claimed,
      nodeSelector: status?.allocation?.nodeSelector,
      config: status?.allocation?.devices?.config,
      results: status?.allocation?.devices?.results?.map(({ shareID, ...result }) => ({
        ...result,
        isShared: shareID !== undefined,
      })),
      users: status?.reservedFor?.map(({ resource, name }) => `${resource}/${name}`),
    })),
  }
  await clear(client)
  return outcome
}

async function clear(client: Client): Promise<void> {
  await client.delete(Pod, key, { gracePeriodSeconds: 0 })
  for (const { metadata } of (await client.list(ResourceClaim, { namespace })).items) {
    const claim = { namespace, name: metadata.name }
    const status = { allocation: null, reservedFor: null }
    await client.patch(ResourceClaim, claim, { status }, { type: 'merge', subresource: 'status' })
    await client.patch(ResourceClaim, claim, { metadata: { finalizers: null } }, { type: 'merge' })
    await client.delete(ResourceClaim, claim)
  }
  await sleep(200) // for the caches of the schedulers
}

describe('devices beside the real kube-scheduler', () => {
  const stack = new AsyncDisposableStack()
  let real: Client
  let ours: Client
  before(async () => {
    const theirs = await openClient(stack)
    stack.use(await startRealScheduler(theirs.kubeconfig))
    real = theirs.client
    ours = (await openClient(stack)).client
    const group = stack.use(new TaskGroup())
    const env = createRealEnv()
    group.spawn(signal => runOperator(createScheduler(), { client: ours, env, signal, freeze: true }))
  })
  after(() => stack.disposeAsync())

  const compare = async (spec: object, devices?: object) => {
    const [theirs, own] = await Promise.all([play(real, spec, devices), play(ours, spec, devices)])
    assert.deepEqual(own, theirs)
  }
  const containers = [{ name: 'main', image: 'i', resources: { claims: [{ name: 'c' }] } }]
  const resourceClaims = [{ name: 'c', resourceClaimName: 'c' }]
  // Of several nodes that would do any may be chosen.
  const nodeSelector = { 'kubernetes.io/hostname': 'n1' }
  for (const [name, devices] of Object.entries(claims))
    it(`claims: ${name}`, () => {
      const isAnywhere = Object.keys(devices).length === 0
      return compare({ containers, resourceClaims, ...(isAnywhere && { nodeSelector }) }, devices)
    })
  for (const [name, spec] of Object.entries(pods)) it(`extended resources: ${name}`, () => compare(spec))
})
