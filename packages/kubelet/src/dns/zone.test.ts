import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type RecordData, type RecordType, recordTypes } from './message.ts'
import { Zone, type ZoneContent } from './zone.ts'

const service = (name: string, spec: object, namespace = 'shop') => ({ metadata: { name, namespace }, spec })
const content = {
  namespaces: new Set(['default', 'shop']),
  services: [
    service('web', {
      clusterIP: '10.96.1.2',
      clusterIPs: ['10.96.1.2', 'fd00::2'],
      ports: [{ name: 'http', port: 80 }, { port: 81 }],
    }),
    service('db', { clusterIP: 'None', ports: [{ name: 'sql', port: 5432 }] }),
    service('quiet', { clusterIP: 'None' }),
    service('far', { type: 'ExternalName', externalName: 'Example.com.' }),
    service('near', { type: 'ExternalName', externalName: 'web.shop.svc.cluster.local' }),
  ],
  slices: [
    {
      metadata: { name: 'db-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'db' } },
      addressType: 'IPv4',
      endpoints: [
        { addresses: ['192.0.2.1'], hostname: 'db-0' },
        { addresses: ['192.0.2.2'] },
        { addresses: ['192.0.2.3'], conditions: { ready: false } },
      ],
      ports: [{ name: 'sql', port: 5433, protocol: 'TCP' }],
    },
  ],
} as unknown as ZoneContent
const zone = new Zone(content, {
  domain: 'cluster.local',
  addressOf: address => address.replace(/^10\./, '127.'),
  serial: 7,
})

function format(data: RecordData): string {
  if ('address' in data)
    return data.type === 'A' ? data.address.join('.') : Buffer.from(data.address).toString('hex')
  if (data.type === 'SRV') return `${data.priority} ${data.weight} ${data.port} ${data.target}`
  return 'target' in data ? `${data.type} ${data.target}` : data.type
}

/** The response code, the answers, and after a bar the additional records. */
function ask(name: string, type: RecordType): string {
  const { code, answers, additionals } = zone.answer({ name, type: recordTypes[type], class: 1 })
  const text = [code, ...answers.map(({ data }) => format(data))].join(' ')
  const more = additionals.map(({ name: owner, data }) => `${owner} ${format(data)}`)
  return more.length === 0 ? text : `${text} | ${more.join(' ')}`
}

const cases: readonly (readonly [string, RecordType, string])[] = [
  ['web.shop.svc.cluster.local', 'A', 'NOERROR 127.96.1.2'],
  ['web.shop.svc.cluster.local', 'AAAA', 'NOERROR fd000000000000000000000000000002'],
  ['web.shop.svc.cluster.local', 'TXT', 'NOERROR'],
  ['web.default.svc.cluster.local', 'A', 'NXDOMAIN'],
  ['shop.svc.cluster.local', 'A', 'NOERROR'],
  ['svc.cluster.local', 'A', 'NOERROR'],
  ['nowhere.svc.cluster.local', 'A', 'NXDOMAIN'],
  ['_tcp.web.shop.svc.cluster.local', 'SRV', 'NOERROR'],
  ['cluster.local', 'SOA', 'NOERROR SOA'],
  ['dns-version.cluster.local', 'TXT', 'NOERROR TXT'],
  ['db.shop.svc.cluster.local', 'A', 'NOERROR 192.0.2.1 192.0.2.2'],
  ['db-0.db.shop.svc.cluster.local', 'A', 'NOERROR 192.0.2.1'],
  ['192-0-2-2.db.shop.svc.cluster.local', 'A', 'NOERROR 192.0.2.2'],
  ['192-0-2-3.db.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
  ['quiet.shop.svc.cluster.local', 'A', 'NOERROR'],
  ['far.shop.svc.cluster.local', 'A', 'NOERROR CNAME example.com'],
  [
    'near.shop.svc.cluster.local',
    'A',
    'NOERROR CNAME web.shop.svc.cluster.local 127.96.1.2 fd000000000000000000000000000002',
  ],
  ['192-0-2-9.shop.pod.cluster.local', 'A', 'NOERROR 192.0.2.9'],
  ['192-0-2-9.other.pod.cluster.local', 'A', 'NXDOMAIN'],
  ['x.shop.pod.cluster.local', 'A', 'NXDOMAIN'],
  ['2.1.96.10.in-addr.arpa', 'PTR', 'NOERROR PTR web.shop.svc.cluster.local'],
  ['2.1.96.127.in-addr.arpa', 'PTR', 'NOERROR PTR web.shop.svc.cluster.local'],
  ['1.2.0.192.in-addr.arpa', 'PTR', 'NOERROR PTR db-0.db.shop.svc.cluster.local'],
  ['4.3.2.1.in-addr.arpa', 'PTR', 'REFUSED'],
  ['example.com', 'A', 'REFUSED'],
  ['notcluster.local', 'A', 'REFUSED'],
]

describe('the zone of a cluster', () => {
  for (const [name, type, expected] of cases)
    it(`answers ${type} ${name} with ${expected}`, () => assert.equal(ask(name, type), expected))

  it('resolves ports to hosts and their addresses', () => {
    const web = 'web.shop.svc.cluster.local'
    assert.equal(
      ask(`_http._tcp.${web}`, 'SRV'),
      `NOERROR 0 100 80 ${web} | ${web} 127.96.1.2 ${web} fd000000000000000000000000000002`,
    )
    const db = 'db.shop.svc.cluster.local'
    assert.equal(
      ask(`_sql._tcp.${db}`, 'SRV'),
      `NOERROR 0 100 5433 db-0.${db} 0 100 5433 192-0-2-2.${db} | db-0.${db} 192.0.2.1 192-0-2-2.${db} 192.0.2.2`,
    )
  })

  it('says how long a negative answer may be cached', () => {
    const { authorities, isAuthoritative } = zone.answer({ name: 'x.cluster.local', type: 1, class: 1 })
    assert.equal(isAuthoritative, true)
    assert.deepEqual(authorities[0]?.data, {
      type: 'SOA',
      server: 'ns.dns.cluster.local',
      mailbox: 'hostmaster.cluster.local',
      times: [7, 7200, 1800, 86_400, 5],
    })
  })

  it('finds a name quickly among many', () => {
    const services = Array.from({ length: 20_000 }, (_, index) =>
      service(`s${index}`, {
        clusterIP: `10.96.${index >> 8}.${index & 255}`,
        ports: [{ name: 'p', port: 1 }],
      }),
    )
    const large = new Zone(
      { ...content, services: services as never },
      { domain: 'a', addressOf: ip => ip, serial: 1 },
    )
    const { answers } = large.answer({ name: 's19999.shop.svc.a', type: 1, class: 1 })
    assert.equal(answers.length, 1)
  })
})
