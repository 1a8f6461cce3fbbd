import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DaemonSet, Deployment } from '@coxswain/api/apps/v1'
import { ConfigMap, Node, Pod, ServiceAccount } from '@coxswain/api/core/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import { defineKind, s, toCustomResourceDefinition } from '@coxswain/apimachinery/kinds'
import { isBadRequest, isNotFound } from '@coxswain/apimachinery/status'
import {
  applyAll,
  cordon,
  createOrPatch,
  createOrUpdate,
  drain,
  dryRun,
  evict,
  extractApply,
  isClientError,
  type Manifest,
  restart,
  uncordon,
  withStrictValidation,
} from '@coxswain/client'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from './cluster.ts'

const start = () => startCluster({ env: new VirtualWorld({ seed: 9 }), controllers: false })
const named = (name: string) => ({ namespace: 'default', name })

const container = { name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }
const deployment = (containers: readonly (typeof container)[] = [container]) => ({
  metadata: { ...named('web'), labels: { team: 'a' } },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [...containers] } },
  },
})

describe('createOrUpdate and createOrPatch against a server', () => {
  it('create, change and leave alone; defaults of the server are no difference', async () => {
    await using cluster = await start()
    const target = { kind: Deployment, object: deployment() }
    for (const ensure of [createOrUpdate, createOrPatch]) {
      const scale = (replicas: number) =>
        cluster.run(
          ensure(cluster.client, target, draft => {
            draft.spec!.replicas = replicas
          }),
        )
      const results = []
      for (const replicas of [1, 1, 2]) results.push((await scale(replicas)).result)
      assert.deepEqual(results, ['created', 'unchanged', 'updated'])
      await cluster.run(cluster.client.delete(Deployment, named('web')))
    }
  })
})

describe('wrappers against a server', () => {
  it('a dry run stores nothing, and strict validation rejects unknown fields', async () => {
    await using cluster = await start()
    const { client } = cluster
    await cluster.run(dryRun(client).create(ConfigMap, { metadata: named('a') }))
    assert.equal(await cluster.run(client.get(ConfigMap, named('a'))), undefined)
    const typo = { metadata: named('a'), dta: {} }
    await assert.rejects(cluster.run(withStrictValidation(client).create(ConfigMap, typo)), isBadRequest)
  })
})

describe('extractApply', () => {
  it('gives back what a manager applied, and neither defaults nor fields of others', async () => {
    await using cluster = await start()
    const { client } = cluster
    const applied = deployment()
    await cluster.run(client.apply(Deployment, applied, { fieldManager: 'one' }))
    const other = { metadata: { ...named('web'), annotations: { note: 'x' } }, spec: { replicas: 3 } }
    await cluster.run(client.apply(Deployment, other, { fieldManager: 'two' }))
    const object = (await cluster.run(client.get(Deployment, named('web'))))!
    assert.equal(object.spec.template.spec?.restartPolicy, 'Always')
    const type = { apiVersion: 'apps/v1', kind: 'Deployment' }
    const [{ ports: _, ...rest }] = [container]
    const withKeys = { ...rest, ports: [{ containerPort: 80, protocol: 'TCP' }] }
    assert.deepEqual(extractApply(Deployment, { object, fieldManager: 'one' }), {
      ...type,
      ...deployment([withKeys]),
    })
    assert.deepEqual(extractApply(Deployment, { object, fieldManager: 'two' }), { ...type, ...other })
    assert.deepEqual(extractApply(Deployment, { object, fieldManager: 'three' }), {
      ...type,
      metadata: named('web'),
    })
  })

  it('keeps ownership when it is applied again, changed', async () => {
    await using cluster = await start()
    const { client } = cluster
    const applied = { metadata: { ...named('c'), finalizers: ['example.com/a'] }, data: { a: '1', b: '2' } }
    const object = await cluster.run(client.apply(ConfigMap, applied, { fieldManager: 'one' }))
    const extracted = extractApply(ConfigMap, { object, fieldManager: 'one' })
    assert.deepEqual(extracted.metadata?.finalizers, ['example.com/a'])
    const changed = { ...extracted, data: { b: '3' } }
    const again = await cluster.run(client.apply(ConfigMap, changed, { fieldManager: 'one' }))
    assert.deepEqual(again.data, { b: '3' })
    assert.deepEqual(again.metadata.finalizers, ['example.com/a'])
  })
})

describe('applyAll', () => {
  const Toy = defineKind({
    group: 'example.com',
    kind: 'Toy',
    versions: { v1: { spec: s.object({ size: s.int32() }) } },
  })
  const configMap = (name: string, namespace?: string): Manifest => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...(namespace && { namespace }) },
  })
  const toy = { apiVersion: 'example.com/v1', kind: 'Toy', metadata: { name: 't' }, spec: { size: 1 } }
  const namespace: Manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }
  const run = (cluster: Cluster, manifests: readonly Manifest[], prune?: Record<string, string>) =>
    cluster.run(
      applyAll(cluster, manifests, { fieldOwner: 'me', ...(prune && { prune: { labels: prune } }) }),
    )

  it('applies namespaces and definitions first, and waits until their kinds are served', async () => {
    await using cluster = await start()
    const definition = toCustomResourceDefinition(Toy) as unknown as Manifest
    const { applied } = await run(cluster, [toy, configMap('c', 'team'), definition, namespace])
    assert.deepEqual(
      applied.map(({ kind }) => kind),
      ['Namespace', 'CustomResourceDefinition', 'Toy', 'ConfigMap'],
    )
    const stored = await cluster.run(cluster.client.get(Toy.v1, named('t')))
    assert.equal(stored?.metadata.managedFields?.[0]?.manager, 'me')
  })

  it('deletes what has the labels of the set and is no longer in it', async () => {
    await using cluster = await start()
    const { client } = cluster
    const labels = { set: 'x' }
    await cluster.run(client.create(ConfigMap, { metadata: { ...named('other'), labels: { set: 'y' } } }))
    await run(cluster, [configMap('a'), configMap('b')], labels)
    const { pruned } = await run(cluster, [configMap('b')], labels)
    assert.deepEqual(pruned, ['ConfigMap default/a'])
    const { items } = await cluster.run(client.list(ConfigMap, { namespace: 'default' }))
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['b', 'other'],
    )
    await assert.rejects(run(cluster, [], {}), error => isClientError(error, 'BadOptions'))
  })
})

describe('a node', () => {
  const controller = (kind: string, name: string) => ({
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: 'u', controller: true }],
  })
  const createPod = (cluster: Cluster, name: string, more: { metadata?: object; spec?: object } = {}) =>
    cluster.run(
      cluster.client.create(Pod, {
        metadata: { ...named(name), labels: { app: 'web' }, ...more.metadata },
        spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], ...more.spec },
      }),
    )
  const startWithNode = async () => {
    const cluster = await start()
    await cluster.run(cluster.client.create(Node, { metadata: { name: 'n1' } }))
    await cluster.run(cluster.client.create(ServiceAccount, { metadata: named('default') }))
    return cluster
  }
  const podsOf = async (cluster: Cluster) =>
    (await cluster.run(cluster.client.list(Pod, { namespace: 'default' }))).items.map(
      each => each.metadata.name,
    )
  const replicated = { metadata: controller('ReplicaSet', 'rs') }

  it('is cordoned and uncordoned, with one write each', async () => {
    await using cluster = await startWithNode()
    const read = async () => (await cluster.run(cluster.client.get(Node, { name: 'n1' })))!
    await cluster.run(cordon(cluster.client, 'n1'))
    const cordoned = await read()
    assert.equal(cordoned.spec?.unschedulable, true)
    await cluster.run(cordon(cluster.client, 'n1'))
    assert.equal((await read()).metadata.resourceVersion, cordoned.metadata.resourceVersion)
    await cluster.run(uncordon(cluster.client, 'n1'))
    assert.equal((await read()).spec?.unschedulable, undefined)
    await assert.rejects(cluster.run(cordon(cluster.client, 'n2')), isNotFound)
  })

  it('is not drained of Pods that the options do not allow to evict', async () => {
    await using cluster = await startWithNode()
    const metadata = named('ds')
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    await cluster.run(
      cluster.client.create(DaemonSet, {
        metadata,
        spec: { selector: { matchLabels: { a: 'b' } }, template },
      }),
    )
    await createPod(cluster, 'bare')
    await createPod(cluster, 'daemon', { metadata: controller('DaemonSet', 'ds') })
    await createPod(cluster, 'orphan', { metadata: controller('DaemonSet', 'deleted') })
    await createPod(cluster, 'local', { ...replicated, spec: { volumes: [{ name: 'v', emptyDir: {} }] } })
    await createPod(cluster, 'web', replicated)
    const refused = (error: unknown) =>
      isClientError(error, 'CannotDrain') &&
      error.message ===
        [
          'cannot delete DaemonSet-managed Pods (use ignoreDaemonSets to ignore): default/daemon',
          'cannot delete Pods that declare no controller (use force to override): default/bare',
          'cannot delete Pods whose DaemonSet does not exist (use force to override): default/orphan',
          'cannot delete Pods with local storage (use deleteEmptyDirData to override): default/local',
        ].join('\n')
    await assert.rejects(cluster.run(drain(cluster, 'n1')), refused)
    assert.equal((await podsOf(cluster)).length, 5, 'nothing was evicted')
    const all = { ignoreDaemonSets: true, deleteEmptyDirData: true, force: true, gracePeriodSeconds: 0 }
    await cluster.run(drain(cluster, 'n1', all))
    assert.deepEqual(await podsOf(cluster), ['daemon'])
  })

  it('is drained as budgets allow it, and not longer than its timeout', async () => {
    await using cluster = await startWithNode()
    const { client } = cluster
    await createPod(cluster, 'web', replicated)
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    await cluster.run(client.patch(Pod, named('web'), { status }, { subresource: 'status' }))
    const selector = { matchLabels: { app: 'web' } }
    await cluster.run(
      client.create(PodDisruptionBudget, { metadata: named('b'), spec: { minAvailable: 1, selector } }),
    )
    const allow = (disruptionsAllowed: number) =>
      cluster.run(
        client.patch(
          PodDisruptionBudget,
          named('b'),
          {
            status: {
              observedGeneration: 1,
              disruptionsAllowed,
              currentHealthy: 1,
              desiredHealthy: 1,
              expectedPods: 1,
            },
          },
          { subresource: 'status' },
        ),
      )
    await allow(0)
    const begun = cluster.env.clock.monotonic()
    const timeout = 20_000
    await assert.rejects(cluster.run(drain(cluster, 'n1', { gracePeriodSeconds: 0, timeout })), error =>
      isClientError(error, 'WaitTimeout'),
    )
    assert.equal(cluster.env.clock.monotonic() - begun, timeout)
    assert.deepEqual(await podsOf(cluster), ['web'])
    let isDrained = false
    const draining = drain(cluster, 'n1', { gracePeriodSeconds: 0 }).then(() => {
      isDrained = true
    })
    await cluster.advance(240_000)
    assert.ok(!isDrained, 'it waits as long as it takes')
    await allow(1)
    await cluster.run(draining)
    assert.deepEqual(await podsOf(cluster), [])
  })

  it('an eviction of a Pod that does not exist is not found', async () => {
    await using cluster = await start()
    await assert.rejects(cluster.run(evict(cluster.client, named('x'))), isNotFound)
  })
})

describe('restart', () => {
  it('changes the Pod template as kubectl rollout restart does, and refuses what kubectl refuses', async () => {
    await using cluster = await start()
    const { client, env } = cluster
    const target = { kind: Deployment, key: named('web') }
    await cluster.run(client.create(Deployment, deployment()))
    const restarted = await cluster.run(restart(client, env, target))
    const annotation = restarted.spec.template.metadata?.annotations?.['kubectl.kubernetes.io/restartedAt']
    assert.match(annotation ?? '', /^2030-01-01T\d\d:\d\d:\d\dZ$/)
    assert.equal(restarted.metadata.generation, 2)
    await cluster.run(client.patch(Deployment, named('web'), { spec: { paused: true } }))
    await assert.rejects(cluster.run(restart(client, env, target)), /can't restart paused deployment/)
    const other = { kind: ConfigMap, key: named('web') }
    await assert.rejects(cluster.run(restart(client, env, other)), /restarting is not supported/)
  })
})
