import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Service } from '@coxswain/api/core/v1'
import { VirtualWorld } from '@coxswain/kit'
import { type AnswerQuery, createClusterDns, type DnsSockets, type PortProblem } from '@coxswain/kubelet'
import { startCluster } from '@coxswain/testing'

/** Sockets whose queries come from the test. */
class FakeSockets implements DnsSockets {
  answer: AnswerQuery | undefined
  problem: PortProblem | undefined
  readonly places: string[] = []
  isDisposed = false

  async open({ host, port }: { readonly host: string; readonly port: number }, answer: AnswerQuery) {
    this.places.push(`${host}:${port}`)
    if (this.problem) return { opened: false as const, problem: this.problem, message: 'no' }
    this.answer = answer
    return { opened: true as const, socket: { close: async () => {} } }
  }

  /** The response code and the last four bytes of an answer to a question for addresses. */
  ask(name: string): readonly number[] {
    const labels = name.split('.').flatMap(label => [label.length, ...Buffer.from(label)])
    const query = [0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, 1, 0, 1]
    const reply = this.answer!(Uint8Array.from(query), 'udp')!
    return [reply[3]! & 15, ...(reply[7] === 0 ? [] : reply.slice(-4))]
  }

  async [Symbol.asyncDispose]() {
    this.isDisposed = true
  }
}

const kubeDns = { namespace: 'kube-system', name: 'kube-dns' }
const addressOf = (clusterIP: string) => clusterIP.replace(/^10\./, '127.')

async function start(sockets: FakeSockets) {
  const world = new VirtualWorld({ seed: 1 })
  const dns = createClusterDns({ sockets, clusterIP: '10.96.0.10', addressOf })
  const cluster = await startCluster({ env: world })
  cluster.start(dns.operator)
  await cluster.advance(1_000)
  return { dns, cluster, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() }
}

describe('the cluster DNS server', () => {
  it('answers for Services as they come and go, and has a Service itself', async () => {
    const sockets = new FakeSockets()
    {
      await using stage = await start(sockets)
      const { client } = stage.cluster
      await stage.cluster.advance(1_000)
      const shown = await stage.cluster.run(client.get(Service, kubeDns))
      assert.equal(shown?.spec?.clusterIP, '10.96.0.10')
      assert.deepEqual(
        shown?.spec?.ports?.map(({ name, port, protocol }) => `${name} ${port} ${protocol}`),
        ['dns 53 UDP', 'dns-tcp 53 TCP'],
      )
      assert.deepEqual(sockets.places, ['127.96.0.10:53'])
      assert.deepEqual(await stage.dns.resolver(), { address: '127.96.0.10', domain: 'cluster.local' })
      assert.deepEqual(sockets.ask('kube-dns.kube-system.svc.cluster.local'), [0, 127, 96, 0, 10])
      const key = { namespace: 'default', name: 'web' }
      assert.deepEqual(sockets.ask('web.default.svc.cluster.local'), [3])
      await stage.cluster.run(
        client.create(Service, { metadata: key, spec: { clusterIP: '10.96.0.99', ports: [{ port: 80 }] } }),
      )
      await stage.cluster.advance(1_000)
      assert.deepEqual(sockets.ask('web.default.svc.cluster.local'), [0, 127, 96, 0, 99])
      await stage.cluster.run(client.delete(Service, key))
      await stage.cluster.run(client.delete(Service, kubeDns))
      await stage.cluster.advance(1_000)
      assert.deepEqual(sockets.ask('web.default.svc.cluster.local'), [3])
      assert.ok(await stage.cluster.run(client.get(Service, kubeDns)), 'it is created again')
    }
    assert.equal(sockets.isDisposed, true)
  })

  it('leaves containers the resolvers of the machine when it cannot listen', async () => {
    const sockets = new FakeSockets()
    sockets.problem = 'forbidden'
    await using stage = await start(sockets)
    assert.equal(await stage.dns.resolver(), undefined)
    assert.equal(sockets.places.length, 1, 'missing privileges are not retried')
  })

  it('opens its port once another process has released it', async () => {
    const sockets = new FakeSockets()
    sockets.problem = 'taken'
    await using stage = await start(sockets)
    assert.equal(await stage.dns.resolver(), undefined)
    sockets.problem = undefined
    await stage.cluster.advance(10_000)
    assert.deepEqual(await stage.dns.resolver(), { address: '127.96.0.10', domain: 'cluster.local' })
  })
})
