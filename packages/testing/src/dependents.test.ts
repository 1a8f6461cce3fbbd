import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Deployment } from '@coxswain/api/apps/v1'
import { ConfigMap, Namespace, Secret, Service } from '@coxswain/api/core/v1'
import { ClusterRole } from '@coxswain/api/rbac/v1'
import { defineKind, type Kind, s } from '@coxswain/apimachinery/kinds'
import { findStatusCondition } from '@coxswain/apimachinery/meta'
import { newInternalError } from '@coxswain/apimachinery/status'
import { encodeText, VirtualWorld } from '@coxswain/kit'
import {
  type DependentsOptions,
  type DependentsResult,
  defineOperator,
  describeOperator,
  isRuntimeError,
  type Operator,
  type ReconcileRecord,
} from '@coxswain/runtime'
import { type Cluster, startCluster } from './cluster.ts'

const Shop = defineKind({
  group: 'example.com',
  kind: 'Shop',
  versions: {
    v1: {
      spec: s.object({ text: s.string(), web: s.boolean().default(true), shards: s.int32().default(0) }),
      status: s.object({ conditions: s.conditions().optional() }),
    },
  },
}).v1

const key = { namespace: 'default', name: 'a' }
const named = (name: string) => ({ namespace: 'default', name })

interface Seen {
  result?: DependentsResult
}

/** config <- db (a Deployment, ready by its status) <- web; shards and a Secret beside them. */
function createShopOperator(options: DependentsOptions = {}, seen: Seen = {}): Operator {
  return defineOperator('shops', operator => {
    operator
      .controller('shop')
      .for(Shop)
      .options({ resyncPeriod: 60_000 })
      .dependents(
        dependent => [
          dependent('web', Service, {
            desired: ({ object }) => ({
              metadata: { name: `${object.metadata.name}-web` },
              spec: { selector: { app: object.metadata.name }, ports: [{ port: 80 }] },
            }),
            dependsOn: ['db'],
            when: ({ object }) => object.spec.web,
          }),
          dependent('config', ConfigMap, {
            desired: ({ object }) => ({
              metadata: { name: `${object.metadata.name}-config` },
              data: { text: object.spec.text },
            }),
          }),
          dependent('db', Deployment, {
            desired: ({ object, dependent: objectsOf }) => ({
              metadata: { name: `${object.metadata.name}-db` },
              spec: {
                selector: { matchLabels: { app: 'db' } },
                template: {
                  metadata: {
                    labels: { app: 'db' },
                    annotations: { config: objectsOf('config')[0]!.metadata.name },
                  },
                  // The server writes this quantity another way.
                  spec: {
                    containers: [{ name: 'db', image: 'db', resources: { requests: { cpu: '0.5' } } }],
                  },
                },
              },
            }),
            dependsOn: ['config'],
            readyWhen: ({ status }) => (status?.readyReplicas ?? 0) > 0,
          }),
          dependent('shards', ConfigMap, {
            desired: ({ object }) =>
              Array.from({ length: object.spec.shards }, (_, index) => ({
                metadata: { name: `${object.metadata.name}-shard-${index}` },
              })),
          }),
          dependent('password', Secret, {
            desired: ({ object }) => ({
              metadata: { name: `${object.metadata.name}-password` },
              data: { key: 'dmFsdWU=' },
            }),
          }),
        ],
        options,
      )
      .reconcile(({ dependents }) => {
        if (dependents) seen.result = dependents
      })
  })
}

/** A cluster with a running operator, on a virtual clock. */
async function startWith(operator: Operator, world = new VirtualWorld({ seed: 3 })) {
  const cluster = await startCluster({ env: world })
  await cluster.install(operator)
  const records: ReconcileRecord[] = []
  const start = () => cluster.start(operator, { onReconcile: record => void records.push(record) })
  const stop = start()
  await cluster.advance(2_000)
  return { cluster, records, start, stop }
}

const createShop = (cluster: Cluster, spec: { text: string; web?: boolean; shards?: number }) =>
  cluster.run(cluster.client.create(Shop, { metadata: key, spec }))

const namesOf = async (cluster: Cluster, kind: Kind) =>
  (await cluster.run(cluster.client.list(kind, { labelSelector: 'coxswain.dev/dependent' }))).items.map(
    ({ metadata }) => metadata.name,
  )

const readyOf = async (cluster: Cluster) => {
  const shop = await cluster.run(cluster.client.get(Shop, key))
  const { status, reason, message } = findStatusCondition(shop?.status?.conditions, 'Ready') ?? {}
  return { status, reason, message }
}

const makeReady = (cluster: Cluster) =>
  cluster.run(
    cluster.client.patch(
      Deployment,
      named('a-db'),
      { status: { replicas: 1, readyReplicas: 1 } },
      { subresource: 'status' },
    ),
  )

describe('dependents', () => {
  it('are applied in order, and each waits until what it depends on is ready', async () => {
    const seen: Seen = {}
    const { cluster } = await startWith(createShopOperator({}, seen))
    await using _ = cluster
    await createShop(cluster, { text: 'x' })
    await cluster.advance(1_000)
    const config = await cluster.run(cluster.client.get(ConfigMap, named('a-config')))
    assert.equal(config?.data?.text, 'x')
    assert.equal(config?.metadata.ownerReferences?.[0]?.kind, 'Shop')
    const db = await cluster.run(cluster.client.get(Deployment, named('a-db')))
    assert.equal(db?.spec.template.metadata?.annotations?.config, 'a-config', 'it sees what it depends on')
    assert.deepEqual(await namesOf(cluster, Service), [], 'web waits for db')
    assert.deepEqual(await readyOf(cluster), {
      status: 'False',
      reason: 'DependentsNotReady',
      message: 'db: not ready; web: waiting for what it depends on',
    })
    assert.equal(seen.result?.states.get('db')?.phase, 'NotReady')
    await makeReady(cluster)
    await cluster.advance(1_000)
    assert.deepEqual(await namesOf(cluster, Service), ['a-web'])
    assert.equal((await readyOf(cluster)).status, 'True')
    assert.equal(seen.result?.ready, true)
  })

  it('are not written when nothing differs: after events, a resync or a restart of the operator', async () => {
    const { cluster, records, start, stop } = await startWith(createShopOperator())
    await using _ = cluster
    await createShop(cluster, { text: 'x', shards: 2 })
    await cluster.advance(1_000)
    await makeReady(cluster)
    await cluster.advance(5_000)
    const writes = () => records.flatMap(({ calls }) => calls).filter(({ verb }) => verb !== 'get').length
    const versions = async () => {
      const lists = [ConfigMap, Deployment, Secret, Service].map(kind => cluster.client.list(kind as Kind))
      return (await cluster.run(Promise.all(lists))).flatMap(({ items }) => items.map(each => each.metadata))
    }
    const [before, stored] = [writes(), await versions()]
    await cluster.run(cluster.client.patch(Shop, key, { metadata: { labels: { touched: 'yes' } } }))
    await cluster.advance(600_000)
    assert.ok(records.length > 10, 'resyncs have come')
    assert.equal(writes(), before)
    await stop()
    records.length = 0
    start()
    await cluster.advance(60_000)
    assert.ok(records.length > 0, 'it has reconciled again')
    assert.deepEqual(
      records.flatMap(({ calls }) => calls).filter(({ verb }) => verb !== 'get'),
      [],
      'also what the server writes another way',
    )
    assert.deepEqual(await versions(), stored, 'and nothing has changed on the server')
  })

  it('are put right when another client changes or deletes them, and follow the spec', async () => {
    const { cluster } = await startWith(createShopOperator())
    await using _ = cluster
    await createShop(cluster, { text: 'x' })
    await cluster.advance(1_000)
    await cluster.run(cluster.client.patch(ConfigMap, named('a-config'), { data: { text: 'drift' } }))
    await cluster.run(cluster.client.delete(Secret, named('a-password')))
    await cluster.advance(1_000)
    const read = async () => (await cluster.run(cluster.client.get(ConfigMap, named('a-config'))))?.data?.text
    assert.equal(await read(), 'x')
    assert.ok(await cluster.run(cluster.client.get(Secret, named('a-password'))))
    await cluster.run(cluster.client.patch(Shop, key, { spec: { text: 'y' } }))
    await cluster.advance(1_000)
    assert.equal(await read(), 'y')
  })

  it('are pruned when they are no longer desired, in reverse order', async () => {
    const { cluster } = await startWith(createShopOperator())
    await using _ = cluster
    await createShop(cluster, { text: 'x', shards: 3 })
    await cluster.advance(1_000)
    await makeReady(cluster)
    await cluster.advance(1_000)
    assert.deepEqual(await namesOf(cluster, ConfigMap), ['a-config', 'a-shard-0', 'a-shard-1', 'a-shard-2'])
    await cluster.run(cluster.client.patch(Shop, key, { spec: { shards: 1, web: false } }))
    await cluster.advance(1_000)
    assert.deepEqual(await namesOf(cluster, ConfigMap), ['a-config', 'a-shard-0'])
    assert.deepEqual(await namesOf(cluster, Service), [])
    assert.equal((await readyOf(cluster)).status, 'True')
    await cluster.run(cluster.client.delete(Shop, key))
    await cluster.advance(30_000)
    assert.deepEqual(await namesOf(cluster, ConfigMap), [], 'garbage collection deletes those that are owned')
  })

  it('reports what failed in the condition, goes on with the others, and tries again', async () => {
    const { cluster } = await startWith(createShopOperator())
    await using _ = cluster
    const fault = cluster.intercept(async (request, next) => {
      if (request.method !== 'PATCH' || !request.path.endsWith('/configmaps/a-config')) return next(request)
      const { status } = newInternalError(new Error('no space left'))
      return { status: 500, headers: {}, body: encodeText(JSON.stringify(status)) }
    })
    await createShop(cluster, { text: 'x', shards: 1 })
    await cluster.advance(2_000)
    const { reason, message } = await readyOf(cluster)
    assert.equal(reason, 'DependentsFailed')
    assert.match(message!, /config: failed: .*no space left; db: waiting for what it depends on/)
    assert.deepEqual(await namesOf(cluster, ConfigMap), ['a-shard-0'])
    fault[Symbol.dispose]()
    await cluster.advance(10_000)
    assert.deepEqual(await namesOf(cluster, ConfigMap), ['a-config', 'a-shard-0'])
    assert.equal((await readyOf(cluster)).reason, 'DependentsNotReady')
  })

  it('end as desired whatever requests fail and whenever the operator is restarted', async () => {
    for (let seed = 1; seed <= 8; seed++) {
      const world = new VirtualWorld({ seed })
      const operator = createShopOperator({ orderedDeletion: true })
      const run = await startWith(operator, world)
      const { cluster } = run
      await using _ = cluster
      let bad = true
      cluster.intercept(async (request, next) => {
        const draw = bad && request.method !== 'GET' ? world.random.next() : 1
        if (draw < 0.2) return { status: 500, headers: {}, body: encodeText('{}') }
        const answer = await next(request)
        if (draw < 0.3) throw new Error('the connection broke after the request')
        return answer
      })
      const insist = async (call: () => Promise<unknown>) => {
        for (;;)
          try {
            return await cluster.run(call())
          } catch {}
      }
      let { stop } = run
      await insist(() =>
        cluster.client.apply(Shop, { metadata: key, spec: { text: 'x', shards: 3 } }, { fieldManager: 't' }),
      )
      for (let restart = 0; restart < 3; restart++) {
        await cluster.advance(world.random.below(2_000))
        await stop()
        stop = run.start()
      }
      await insist(() => cluster.client.patch(Shop, key, { spec: { shards: 1 } }))
      bad = false
      await cluster.advance(120_000)
      await makeReady(cluster)
      await cluster.advance(60_000)
      assert.deepEqual(await namesOf(cluster, ConfigMap), ['a-config', 'a-shard-0'], `seed ${seed}`)
      assert.deepEqual(await namesOf(cluster, Service), ['a-web'], `seed ${seed}`)
      bad = true
      await insist(() => cluster.client.delete(Shop, key))
      await cluster.advance(world.random.below(2_000))
      bad = false
      await cluster.advance(300_000)
      for (const kind of [ConfigMap, Deployment, Secret, Service, Shop] as Kind[])
        assert.deepEqual(await namesOf(cluster, kind), [], `seed ${seed}: ${kind.kind}`)
    }
  })
})

describe('dependents without an owner reference', () => {
  const operator = defineOperator('roles', builder => {
    builder
      .controller('role')
      .for(Shop)
      .dependents(dependent => [
        dependent('role', ClusterRole, {
          desired: ({ object }) => ({ metadata: { name: `shop-${object.metadata.name}` }, rules: [] }),
        }),
        dependent('elsewhere', ConfigMap, {
          desired: ({ object }) => ({
            metadata: { namespace: 'other', name: `shop-${object.metadata.name}` },
          }),
          dependsOn: ['role'],
        }),
      ])
      .reconcile()
  })

  it('hold their owner by a finalizer, and are deleted in reverse order before it', async () => {
    const { cluster } = await startWith(operator)
    await using _ = cluster
    await cluster.run(cluster.client.create(Namespace, { metadata: { name: 'other' } }))
    await createShop(cluster, { text: 'x' })
    await cluster.advance(2_000)
    const shop = await cluster.run(cluster.client.get(Shop, key))
    assert.deepEqual(shop?.metadata.finalizers, ['coxswain.dev/role-dependents'])
    const elsewhere = { namespace: 'other', name: 'shop-a' }
    const held = { metadata: { finalizers: ['example.com/hold'] } }
    await cluster.run(cluster.client.patch(ConfigMap, elsewhere, held))
    await cluster.run(cluster.client.delete(Shop, key))
    await cluster.advance(5_000)
    assert.ok((await cluster.run(cluster.client.get(ConfigMap, elsewhere)))?.metadata.deletionTimestamp)
    assert.deepEqual(await namesOf(cluster, ClusterRole), ['shop-a'], 'what it depends on is still there')
    await cluster.run(cluster.client.patch(ConfigMap, elsewhere, { metadata: { finalizers: null } }))
    await cluster.advance(1_000)
    assert.deepEqual(await namesOf(cluster, ClusterRole), [])
    assert.equal(await cluster.run(cluster.client.get(Shop, key)), undefined)
  })

  it('are watched: a change by another client is put right', async () => {
    const { cluster } = await startWith(operator)
    await using _ = cluster
    await cluster.run(cluster.client.create(Namespace, { metadata: { name: 'other' } }))
    await createShop(cluster, { text: 'x' })
    await cluster.advance(2_000)
    await cluster.run(cluster.client.delete(ClusterRole, { name: 'shop-a' }))
    await cluster.advance(1_000)
    assert.deepEqual(await namesOf(cluster, ClusterRole), ['shop-a'])
  })
})

describe('a dependent that is not active', () => {
  it('neither holds up the start nor is watched until its kind is there', async () => {
    const Gadget = defineKind({
      group: 'example.com',
      kind: 'Gadget',
      versions: { v1: { spec: s.object({ size: s.int32() }) } },
    })
    let installed = false
    const operator = defineOperator('gadgets', builder => {
      builder
        .controller('gadget')
        .for(Shop)
        .dependents(dependent => [
          dependent('gadget', Gadget.v1, {
            activeWhen: () => installed,
            desired: ({ object }) => ({ metadata: { name: object.metadata.name }, spec: { size: 1 } }),
          }),
          dependent('config', ConfigMap, { desired: () => ({ metadata: { name: 'with-gadget' } }) }),
        ])
        .reconcile()
    })
    const { cluster } = await startWith(operator)
    await using _ = cluster
    await createShop(cluster, { text: 'x' })
    await cluster.advance(1_000)
    assert.deepEqual(await namesOf(cluster, ConfigMap), ['with-gadget'])
    assert.equal((await readyOf(cluster)).status, 'True')
    const definer = defineOperator('definer', builder =>
      builder
        .controller('g')
        .for(Gadget.v1)
        .reconcile(() => {}),
    )
    await cluster.install(definer)
    await cluster.advance(5_000)
    installed = true
    await cluster.run(cluster.client.patch(Shop, key, { metadata: { labels: { touched: 'yes' } } }))
    await cluster.advance(5_000)
    assert.deepEqual(await namesOf(cluster, Gadget.v1), ['a'])
    await cluster.run(cluster.client.delete(Gadget.v1, key))
    await cluster.advance(5_000)
    assert.deepEqual(await namesOf(cluster, Gadget.v1), ['a'], 'it is watched now')
  })
})

describe('the definition of dependents', () => {
  const define = (...dependents: readonly (readonly [name: string, ...dependsOn: string[]])[]) =>
    describeOperator(
      defineOperator('test', operator => {
        operator
          .controller('shop')
          .for(Shop)
          .dependents(dependent =>
            dependents.map(([name, ...dependsOn]) =>
              dependent(name, ConfigMap, { desired: () => undefined, dependsOn }),
            ),
          )
          .reconcile()
      }),
    )
  const refused = (pattern: RegExp) => (error: unknown) =>
    isRuntimeError(error, 'BadDefinition') && pattern.test(error.message)

  it('is sorted by what depends on what', () => {
    const [controller] = define(['c', 'b'], ['a'], ['b', 'a']).controllers
    assert.deepEqual(
      controller?.dependents?.dependents.map(({ name }) => name),
      ['a', 'b', 'c'],
    )
  })

  it('has no cycles, unknown or duplicate names, or names that are not label values', () => {
    assert.throws(() => define(['a', 'b'], ['b', 'a']), refused(/depend on each other: a -> b -> a/))
    assert.throws(() => define(['a', 'x']), refused(/depends on x, which is not a dependent/))
    assert.throws(() => define(['a'], ['a']), refused(/two dependents a/))
    assert.throws(() => define(['a b']), refused(/not a valid label value/))
  })
})
