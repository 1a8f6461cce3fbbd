import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap, Pod } from '@coxswain/api/core/v1'
import { silentLogger, VirtualWorld } from '@coxswain/kit'
import { defineOperator } from '@coxswain/runtime'
import { startCluster } from '../cluster.ts'

const namespace = 'default'
const key = { namespace, name: 'a' }
const worlds = { 'a virtual clock': () => new VirtualWorld({ seed: 3 }), 'the real clock': () => undefined }
const options = (env: VirtualWorld | undefined) => ({ log: silentLogger, ...(env && { env }) })

/** Counts in `data.n` a second apart, and fails at three. */
const counter = defineOperator('counter', operator => {
  operator
    .controller('count')
    .for(ConfigMap)
    .reconcile(async ({ key: each, client, events }) => {
      const map = await client.get(ConfigMap, each)
      if (!map || each.name !== key.name) return
      const n = Number(map.data?.n ?? 0)
      if (n === 3) {
        events.warning(map, 'Exhausted', 'three is enough')
        throw new Error('boom')
      }
      await client.update(ConfigMap, { ...map, data: { n: String(n + 1) } })
    })
})

async function rejection(
  promise: Promise<unknown>,
): Promise<Error & { actual?: unknown; expected?: unknown }> {
  return await promise.then(
    () => assert.fail('it did not fail'),
    error => error,
  )
}

for (const [clock, make] of Object.entries(worlds))
  describe(`expect on ${clock}`, () => {
    it('gives the object that is as expected, now or eventually', async () => {
      await using cluster = await startCluster(options(make()))
      cluster.start(counter)
      const created = await cluster.run(cluster.client.create(ConfigMap, { metadata: key, data: { n: '0' } }))
      await cluster.expect(ConfigMap, key).toHave({ metadata: { uid: created.metadata.uid } })
      const map = await cluster
        .expect(ConfigMap, key)
        .eventually()
        .toHave({ data: { n: /^[23]$/ } })
      assert.ok(Number(map.data?.n) >= 2)
      await cluster
        .expect(ConfigMap, key)
        .eventually()
        .toMatch(({ data }) => assert.equal(data?.n, '3'))
      await cluster
        .expect(ConfigMap, key)
        .consistently({ during: 200 })
        .toMatch(({ data }) => data?.n === '3')
      await cluster.expect(ConfigMap, { ...key, name: 'none' }).toBeMissing()
      await cluster.run(cluster.client.delete(ConfigMap, key))
      await cluster.expect(ConfigMap, key).eventually().toBeMissing()
    })

    it('fails with what differs, the object, its events and the last reconciles', async () => {
      await using cluster = await startCluster(options(make()))
      cluster.start(counter)
      await cluster.run(cluster.client.create(ConfigMap, { metadata: key, data: { n: '0' } }))
      await cluster
        .expect(ConfigMap, key)
        .eventually()
        .toHave({ data: { n: '3' } })
      await cluster.eventually(async () =>
        assert.equal((await cluster.events({ kind: 'ConfigMap', metadata: key })).length, 1),
      )
      const error = await rejection(
        cluster
          .expect(ConfigMap, key)
          .eventually({ within: 300 })
          .toHave({ data: { n: '4', m: /x/ } }),
      )
      assert.ok(error instanceof assert.AssertionError)
      assert.deepEqual([error.actual, error.expected], [{ data: { n: '3' } }, { data: { n: '4', m: /x/ } }])
      assert.match(error.message, /^ConfigMap default\/a is not as expected after 0\.3 s:\n/)
      assert.match(
        error.message,
        /\n {2}data\.n: expected "4", got "3"\n {2}data\.m: expected \/x\/, got nothing\n/,
      )
      assert.match(error.message, /\n\napiVersion: v1\n/)
      assert.doesNotMatch(error.message, /managedFields/)
      assert.match(error.message, /\nEvents:\n {2}Warning Exhausted \(counter\): three is enough/)
      assert.match(error.message, /\nLast reconciles:\n/)
      if (cluster.env instanceof VirtualWorld) {
        // On the real clock later reconciles may have pushed the first ones out.
        assert.match(error.message, /count default\/a: success, \d+ ms; because of .*ConfigMap default\/a/)
        assert.match(error.message, /\n {4,}update ConfigMap default\/a\n/)
      }
      assert.match(error.message, /counter count default\/a: error, .*\n {4,}Error: boom/)
    })
  })

describe('an expectation that fails', () => {
  it('says that the object does not exist, exists, or does not match', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld() })
    const missing = await rejection(cluster.expect(Pod, key).toHave({ status: { phase: 'Running' } }))
    assert.match(missing.message, /^Pod default\/a does not exist\n\nEvents: none\n\nLast reconciles: none$/)
    await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
    assert.match(
      (await rejection(cluster.expect(ConfigMap, key).toBeMissing())).message,
      /^ConfigMap default\/a exists\n/,
    )
    const unlike = await rejection(cluster.expect(ConfigMap, key).toMatch(({ data }) => data?.x === 'y'))
    assert.match(unlike.message, /^ConfigMap default\/a does not match .*data\?\.x === 'y'/)
    const thrown = await rejection(
      cluster.expect(ConfigMap, key).toMatch(({ data }) => assert.deepEqual(data, { x: 'y' })),
    )
    assert.match(
      thrown.message,
      /^ConfigMap default\/a does not match: Expected values to be strictly deep-equal/,
    )
    assert.deepEqual([thrown.actual, thrown.expected], [undefined, { x: 'y' }])
  })

  it('ends a wait on the virtual clock after its time, and no earlier', async () => {
    const world = new VirtualWorld()
    await using cluster = await startCluster({ env: world })
    const start = world.clock.now()
    await rejection(cluster.expect(ConfigMap, key).eventually().toHave({}))
    assert.equal(world.clock.now() - start, 30_000)
  })

  it('ends consistently at the first change', async () => {
    const world = new VirtualWorld()
    await using cluster = await startCluster({ env: world })
    const make = async () => {
      await world.clock.sleep(400)
      await cluster.client.create(ConfigMap, { metadata: key })
    }
    const making = make()
    const error = await rejection(
      cluster.expect(ConfigMap, key).consistently({ during: 5_000 }).toBeMissing(),
    )
    await making
    assert.match(error.message, /^ConfigMap default\/a exists after 0\.4 s of 5 s\n/)
  })
})

describe('eventually and consistently', () => {
  it('call a function, which may use run itself', async () => {
    const world = new VirtualWorld()
    await using cluster = await startCluster({ env: world, log: silentLogger })
    cluster.start(counter)
    await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
    const found = await cluster.eventually(async () => {
      const map = await cluster.run(cluster.client.get(ConfigMap, key))
      assert.equal(map?.data?.n, '3')
      return map
    })
    assert.equal(found?.metadata.name, 'a')
    await cluster.consistently(async () => (await cluster.client.get(ConfigMap, key))?.data?.n === '3')
  })

  it('fail with the reason, and the values that differ', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld() })
    const error = await rejection(cluster.eventually(() => assert.equal(1, 2), { within: 1_000 }))
    assert.ok(error instanceof assert.AssertionError)
    assert.match(error.message, /^it does not hold after 1 s: .*\n*.*1 !== 2/)
    assert.deepEqual([error.actual, error.expected], [1, 2])
    let calls = 0
    const later = await rejection(cluster.consistently(() => ++calls < 4, { during: 1_000 }))
    assert.match(later.message, /^it stops holding after 0\.3 s of 1 s: the function returned false$/)
  })
})

describe('what a cluster knows of an object', () => {
  it('are its events, and the reconciles that it caused or that touched it', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 5 }), log: silentLogger })
    cluster.start(counter)
    const map = await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
    await cluster.run(cluster.client.create(ConfigMap, { metadata: { namespace, name: 'b' } }))
    await cluster
      .expect(ConfigMap, key)
      .eventually()
      .toHave({ data: { n: '3' } })
    await cluster.advance(2_000)
    assert.deepEqual(
      (await cluster.events(map)).map(({ reason }) => reason),
      ['Exhausted'],
    )
    const records = cluster.reconciles(map)
    assert.ok(records.length >= 4)
    assert.ok(records.every(record => record.operator === 'counter' && record.kind === 'ConfigMap'))
    assert.ok(records.every(record => record.key === 'default/a'))
    assert.equal(records.at(-1)?.result, 'error')
    assert.deepEqual(cluster.reconciles({ kind: 'Pod', metadata: key }), [])
  })
})
