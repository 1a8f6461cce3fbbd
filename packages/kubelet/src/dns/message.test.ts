import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { answerQuery } from './cluster-dns.ts'
import { encodeAnswer, parseQuery, recordTypes } from './message.ts'
import { Zone } from './zone.ts'

const label = (text: string) => [text.length, ...Buffer.from(text)]
const nameOf = (name: string) => [...name.split('.').flatMap(label), 0]
/** A query with recursion desired; with `size`, one that speaks EDNS. */
function query(name: string, type: number, size?: number): Uint8Array {
  const option = size === undefined ? [] : [0, 0, 41, size >> 8, size & 255, 0, 0, 0, 0, 0, 0]
  const counts = [0, 1, 0, 0, 0, 0, 0, size === undefined ? 0 : 1]
  return Uint8Array.from([0xab, 0xcd, 1, 0, ...counts, ...nameOf(name), 0, type, 0, 1, ...option])
}

const many = Array.from({ length: 200 }, (_, index) => ({ addresses: [`192.0.2.${index}`] }))
const zone = new Zone(
  {
    namespaces: new Set(['default']),
    services: [
      { metadata: { name: 'web', namespace: 'default' }, spec: { clusterIP: '10.96.0.7' } },
      { metadata: { name: 'many', namespace: 'default' }, spec: { clusterIP: 'None' } },
    ] as never,
    slices: [
      {
        metadata: { name: 'm', namespace: 'default', labels: { 'kubernetes.io/service-name': 'many' } },
        addressType: 'IPv4',
        endpoints: many,
      },
    ] as never,
  },
  { domain: 'cluster.local', addressOf: address => address, serial: 1 },
)
const codeOf = (reply: Uint8Array | undefined) => reply && reply[3]! & 15

describe('DNS messages', () => {
  it('have exactly the expected bytes in their answers', () => {
    const asked = query('WEB.default.svc.cluster.local', recordTypes.A)
    const reply = answerQuery(zone, asked, 'udp')!
    const question = asked.slice(12)
    assert.deepEqual([...reply.slice(0, 12)], [0xab, 0xcd, 0x85, 0, 0, 1, 0, 1, 0, 0, 0, 0])
    assert.deepEqual(reply.slice(12, 12 + question.length), question, 'in the case of the client')
    assert.deepEqual(
      [...reply.slice(12 + question.length)],
      [...nameOf('web.default.svc.cluster.local'), 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 10, 96, 0, 7],
    )
  })

  it('are truncated to what a datagram holds, and complete over TCP', () => {
    const name = 'many.default.svc.cluster.local'
    const count = (reply: Uint8Array) => (reply[6]! << 8) | reply[7]!
    const isCut = (reply: Uint8Array) => (reply[2]! & 2) !== 0
    const plain = answerQuery(zone, query(name, 1), 'udp')!
    assert.ok(plain.length <= 512 && isCut(plain) && count(plain) > 5)
    const larger = answerQuery(zone, query(name, 1, 4096), 'udp')!
    assert.ok(larger.length <= 1232 && larger.length > 1000 && isCut(larger))
    assert.equal(larger[11], 1, 'it speaks EDNS too')
    const whole = answerQuery(zone, query(name, 1), 'tcp')!
    assert.equal(isCut(whole), false)
    assert.equal(count(whole), 200)
  })

  it('get the right error code, or no answer', () => {
    const good = query('web.default.svc.cluster.local', 1)
    assert.equal(answerQuery(zone, good.slice(0, 11), 'udp'), undefined)
    const answered = good.slice()
    answered[2] = 0x80
    assert.equal(answerQuery(zone, answered, 'udp'), undefined, 'a response is not answered')
    const update = good.slice()
    update[2] = 5 << 3
    assert.equal(codeOf(answerQuery(zone, update, 'udp')), 4)
    const two = good.slice()
    two[5] = 2
    assert.equal(codeOf(answerQuery(zone, two, 'udp')), 1)
    const pointer = Uint8Array.from([...good.slice(0, 12), 0xc0, 12, 0, 1, 0, 1])
    assert.equal(codeOf(answerQuery(zone, pointer, 'udp')), 1)
    assert.equal(codeOf(answerQuery(zone, query('example.com', 1), 'udp')), 5)
    assert.equal(codeOf(answerQuery(undefined, good, 'udp')), 2, 'nothing is known yet')
  })

  it('cannot crash the server, whatever their bytes', () => {
    const random = createSeededRandom(42)
    const byte = () => random.below(256)
    const seed = query('_p._tcp.many.default.svc.cluster.local', 33, 1400)
    for (let run = 0; run < 20_000; run++) {
      const hostile =
        run % 2 === 0
          ? Uint8Array.from({ length: random.below(600) }, byte)
          : seed.slice(0, 1 + random.below(seed.length))
      for (let flip = random.below(4); flip > 0 && hostile.length > 0; flip--)
        hostile[random.below(hostile.length)] = byte()
      const reply = answerQuery(zone, hostile, 'udp')
      if (!reply) continue
      assert.ok(reply.length >= 12 && reply.length <= 1232)
      assert.deepEqual(reply.slice(0, 2), hostile.slice(0, 2))
    }
  })

  it('with names that are too long are malformed', () => {
    const long = Array.from({ length: 5 }, () => 'a'.repeat(60)).join('.')
    assert.equal(parseQuery(query(long, 1)).kind, 'malformed')
    const dotted = Uint8Array.from([...query('x', 1).slice(0, 12), ...label('a.b'), 0, 0, 1, 0, 1])
    assert.equal(parseQuery(dotted).kind, 'malformed')
    const fine = parseQuery(query('a.b', 1))
    assert.ok(fine.kind === 'query' && fine.question.name === 'a.b')
    const none = {
      code: 'NOERROR',
      isAuthoritative: true,
      answers: [],
      authorities: [],
      additionals: [],
    } as const
    assert.equal(encodeAnswer(fine.header, none, 'udp').length, 12 + 9)
  })
})
