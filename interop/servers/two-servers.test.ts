import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { EtcdCluster } from '../storage/etcd-cluster.ts'
import { startServer } from '../support/coxswain.ts'
import { Api, type Event } from './api.ts'

const counters = 16
const workers = 24
const updates = 5_000
const rounds = 400
const collection = '/api/v1/namespaces/default/configmaps'

describe('two servers on one etcd', () => {
  const stack = new AsyncDisposableStack()
  let servers: readonly [Api, Api]

  before(async () => {
    const cluster = stack.use(await EtcdCluster.start({ version: 'etcd-3.6' }))
    const options = ['--controllers', 'none', '--storage', 'etcd', '--etcd-servers', cluster.endpoints.join()]
    const start = async () => stack.use(new Api(stack.use(await startServer(...options)).kubeconfig))
    servers = [await start(), await start()]
  })
  after(() => stack.disposeAsync())

  it(`lose none of ${updates} conflicting updates, and both watches see the same`, async t => {
    const names = Array.from({ length: counters }, (_, index) => `counter-${index}`)
    const [first] = servers
    for (const name of names)
      assert.equal(
        (await first.send('POST', collection, { metadata: { name }, data: { n: '0' } })).status,
        201,
      )
    const { resourceVersion } = (await first.send('GET', collection)).body.metadata
    const streams = servers.map(api =>
      collect(api, `${collection}?watch=1&resourceVersion=${resourceVersion}`),
    )

    const acknowledged = new Map<string, { name: string; n: number }>()
    const conflicts = await updateTogether(names, acknowledged)
    t.diagnostic(`${conflicts} conflicts`)
    assert.ok(conflicts > updates / 10, `${conflicts} conflicts: the updates hardly met`)

    for (const name of names) {
      const count = [...acknowledged.values()].filter(each => each.name === name).length
      for (const api of servers)
        assert.equal((await api.send('GET', `${collection}/${name}`)).body.data?.n, String(count), name)
    }
    const seen = await Promise.all(streams.map(stream => stream.until(updates)))
    assert.deepEqual(seen[0], seen[1])
    assert.deepEqual(
      seen[0]!.map(({ object }) => object.metadata.resourceVersion).sort(),
      [...acknowledged.keys()].sort(),
      'an event for every acknowledged update, and none besides',
    )
    const last = new Map<string, number>()
    let version = 0
    for (const { type, object } of seen[0]!) {
      assert.equal(type, 'MODIFIED')
      const { name, resourceVersion } = object.metadata
      assert.ok(Number(resourceVersion) > version, 'versions only grow')
      version = Number(resourceVersion)
      assert.equal(
        Number(object.data?.n),
        (last.get(name) ?? 0) + 1,
        `${name}: each update built on the last`,
      )
      last.set(name, Number(object.data?.n))
    }
  })

  /** Workers count up counters through either server until enough updates are acknowledged. Gives the number of conflicts. */
  async function updateTogether(
    names: readonly string[],
    acknowledged: Map<string, { name: string; n: number }>,
  ): Promise<number> {
    let left = updates
    let conflicts = 0
    const work = async (worker: number) => {
      const random = createSeededRandom(worker)
      while (left > 0) {
        left--
        for (let isDone = false; !isDone; ) {
          const name = names[random.below(counters)]!
          const read = await servers[random.below(2)]!.send('GET', `${collection}/${name}`)
          const n = Number(read.body.data?.n) + 1
          const object = { metadata: read.body.metadata, data: { n: String(n) } }
          const answer = await servers[random.below(2)]!.send('PUT', `${collection}/${name}`, object)
          if (answer.status === 409) conflicts++
          else {
            assert.equal(answer.status, 200)
            const version = answer.body.metadata.resourceVersion
            assert.ok(!acknowledged.has(version), `version ${version} was given twice`)
            acknowledged.set(version, { name, n })
            isDone = true
          }
        }
      }
    }
    await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
    return conflicts
  }

  it('never list or read through one what is older than a write acknowledged by the other', async () => {
    const work = async (worker: number) => {
      const name = `fresh-${worker}`
      const [writer, reader] = worker % 2 === 0 ? servers : servers.toReversed()
      const selected = `${collection}?labelSelector=${name}`
      let version = ''
      for (let round = 0; round < rounds / 4; round++) {
        const object = { metadata: { name, labels: { [name]: 'yes' } }, data: { round: String(round) } }
        const written =
          version === ''
            ? await writer!.send('POST', collection, object)
            : await writer!.send('PUT', `${collection}/${name}`, object)
        assert.ok(written.status < 300, JSON.stringify(written.body))
        version = written.body.metadata.resourceVersion
        const [list, page, read] = await Promise.all([
          reader!.send('GET', selected),
          reader!.send('GET', `${selected}&limit=1`),
          reader!.send('GET', `${collection}/${name}`),
        ])
        for (const { body } of [list, page]) {
          assert.ok(Number(body.metadata.resourceVersion) >= Number(version), 'the version of the list')
          assert.deepEqual(
            body.items?.map(item => item.data?.round),
            [String(round)],
          )
        }
        assert.equal(read.body.data?.round, String(round))
        if (round % 10 !== 9) continue
        assert.equal((await writer!.send('DELETE', `${collection}/${name}`)).status, 200)
        assert.deepEqual((await reader!.send('GET', selected)).body.items, [])
        version = ''
      }
    }
    await Promise.all([0, 1, 2, 3].map(work))
  })

  it('give a name to one of two creates, and an address to one service', async () => {
    for (let round = 0; round < 50; round++) {
      const make = (api: Api) => api.send('POST', collection, { metadata: { name: `once-${round}` } })
      const statuses = (await Promise.all(servers.map(make))).map(({ status }) => status).sort()
      assert.deepEqual(statuses, [201, 409])
    }
    const ports = [{ port: 80 }]
    const path = '/api/v1/namespaces/default/services'
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        servers[index % 2]!.send('POST', path, { metadata: { name: `s-${index}` }, spec: { ports } }),
      ),
    )
    const addresses = made.map(
      ({ body }) => (body as unknown as { spec: { clusterIP: string } }).spec.clusterIP,
    )
    assert.equal(new Set(addresses).size, made.length, 'no address is given twice')
  })
})

/** Collects the events of a watch from now on. */
function collect(api: Api, target: string): { until(count: number): Promise<readonly Event[]> } {
  const events: Event[] = []
  const controller = new AbortController()
  let wake = () => {}
  const running = (async () => {
    try {
      for await (const event of api.watch(target, controller.signal)) {
        events.push(event)
        wake()
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error
    }
  })()
  return {
    async until(count) {
      const enough = new Promise<void>(resolve => {
        wake = () => events.length >= count && resolve()
        wake()
      })
      await Promise.race([enough, running])
      // For an event too many.
      await new Promise(resolve => setTimeout(resolve, 500))
      controller.abort()
      await running
      return events
    },
  }
}
