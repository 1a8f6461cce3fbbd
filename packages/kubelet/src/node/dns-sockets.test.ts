import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { answerQuery } from '../dns/cluster-dns.ts'
import { Zone } from '../dns/zone.ts'
import { createDnsSockets, type DnsSocketsOptions } from './dns-sockets.ts'

const endpoints = Array.from({ length: 150 }, (_, index) => ({ addresses: [`192.0.2.${index}`] }))
const ports = [{ name: 'http', port: 80 }]
const zone = new Zone(
  {
    namespaces: new Set(['default']),
    services: [
      { metadata: { name: 'web', namespace: 'default' }, spec: { clusterIP: '10.96.0.7', ports } },
      { metadata: { name: 'many', namespace: 'default' }, spec: { clusterIP: 'None' } },
      {
        metadata: { name: 'far', namespace: 'default' },
        spec: { type: 'ExternalName', externalName: 'example.com' },
      },
    ] as never,
    slices: [
      {
        metadata: { name: 'm', namespace: 'default', labels: { 'kubernetes.io/service-name': 'many' } },
        addressType: 'IPv4',
        endpoints,
      },
    ] as never,
  },
  { domain: 'cluster.local', addressOf: address => address, serial: 1 },
)

/** A free port; on loopback addresses that only this process uses. */
const host = `127.${64 + (process.pid % 128)}.${(process.pid >> 7) % 256}.53`
const port = 20_000 + (process.pid % 10_000)

async function open(options?: DnsSocketsOptions) {
  const sockets = createDnsSockets(options)
  const result = await sockets.open({ host, port }, (message, transport) =>
    answerQuery(zone, message, transport),
  )
  assert.ok(result.opened)
  const resolver = new Resolver({ timeout: 10_000, tries: 2 })
  resolver.setServers([`${host}:${port}`])
  return { sockets, resolver, [Symbol.asyncDispose]: () => sockets[Symbol.asyncDispose]() }
}

describe('DNS on sockets of this machine', () => {
  it('answers a real resolver over UDP, and over TCP when the answer is too long', async () => {
    await using dns = await open()
    const { resolver } = dns
    assert.deepEqual(await resolver.resolve4('web.default.svc.cluster.local'), ['10.96.0.7'])
    assert.equal((await resolver.resolve4('many.default.svc.cluster.local')).length, 150)
    const [server] = await resolver.resolveSrv('_http._tcp.web.default.svc.cluster.local')
    assert.deepEqual([server?.name, server?.port], ['web.default.svc.cluster.local', 80])
    assert.deepEqual(await resolver.reverse('10.96.0.7'), ['web.default.svc.cluster.local'])
    assert.deepEqual(await resolver.resolveCname('far.default.svc.cluster.local'), ['example.com'])
    assert.deepEqual(await resolver.resolveTxt('dns-version.cluster.local'), [['1.1.0']])
    assert.equal((await resolver.resolveSoa('cluster.local')).minttl, 5)
    await assert.rejects(resolver.resolve4('no.default.svc.cluster.local'), { code: 'ENOTFOUND' })
    await assert.rejects(resolver.resolve6('web.default.svc.cluster.local'), { code: 'ENODATA' })
    await assert.rejects(resolver.resolve4('example.com'), { code: 'EREFUSED' })
  })

  it('reports a port that is in use', async () => {
    await using _first = await open()
    await using second = createDnsSockets()
    const result = await second.open({ host, port }, () => undefined)
    assert.ok(!result.opened && result.problem === 'taken')
  })

  it('closes idle and malformed connections, and rejects connections over the limit', async () => {
    await using _dns = await open({ maxConnections: 2, idleTimeout: 300 })
    const [silent, rude] = [connect(port, host), connect(port, host)]
    for (const socket of [silent, rude]) socket.on('error', () => {})
    await Promise.all([once(silent, 'connect'), once(rude, 'connect')])
    const third = connect(port, host)
    third.on('error', () => {})
    await once(third, 'close')
    rude.write(Buffer.from([0, 3, 1, 2, 3]))
    await Promise.all([silent, rude].map(socket => (socket.closed ? undefined : once(socket, 'close'))))
  })
})
