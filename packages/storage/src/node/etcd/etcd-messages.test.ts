import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isProgressTrusted } from './cluster.ts'
import { decodeRange, decodeWatch, encodeRange, encodeTxn } from './etcd-messages.ts'
import { ProtoWriter, readFields } from './protobuf.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex')

describe('protobuf', () => {
  it('round-trips numbers of every size', () => {
    const numbers = [1, 127, 128, 300, 2 ** 31, 2 ** 32 + 7, 2 ** 53 - 1]
    const out = new ProtoWriter()
    for (const [i, number] of numbers.entries()) out.number(i + 1, number)
    assert.deepEqual(
      [...readFields(out.finish())].map(({ number }) => number),
      numbers,
    )
  })

  it('writes what protoc writes', () => {
    assert.equal(hex(new ProtoWriter().number(1, 150).finish()), '089601')
    assert.equal(hex(new ProtoWriter().text(2, 'testing').finish()), '120774657374696e67')
    assert.equal(hex(new ProtoWriter().number(1, 0).text(2, '').bool(3, false).finish()), '')
    assert.equal(hex(new ProtoWriter().message(3, new Uint8Array(0)).finish()), '1a00')
  })

  it('rejects truncated and malformed messages', () => {
    for (const broken of ['08', '0896', '1205ab', '0b']) {
      assert.throws(() => [...readFields(Buffer.from(broken, 'hex'))], /protobuf/)
    }
  })

  it('skips unknown fields of every wire type', () => {
    const message = Buffer.from('090102030405060708' + '1501020304' + '1a0161' + '2005', 'hex')
    assert.deepEqual(
      [...readFields(message)].map(({ field }) => field),
      [3, 4],
    )
  })
})

describe('etcd messages', () => {
  it('encode a range', () => {
    const request = encodeRange({
      key: bytes('a'),
      rangeEnd: bytes('b'),
      limit: 5,
      revision: 300,
      keysOnly: true,
    })
    assert.equal(hex(request), '0a0161' + '120162' + '1805' + '20ac02' + '4001')
  })

  it('encode absence as an explicit comparison with zero', () => {
    const request = encodeTxn({ compare: [{ key: bytes('a'), modRevision: 0 }], success: [], failure: [] })
    assert.equal(hex(request), '0a07' + '1002' + '1a0161' + '3000')
  })

  it('decode a range', () => {
    const header = new ProtoWriter().number(1, 2 ** 40).number(3, 42)
    const kv = new ProtoWriter()
      .text(1, 'k')
      .number(2, 5)
      .number(3, 6)
      .number(4, 2)
      .text(5, 'v')
      .number(6, 99)
    const message = new ProtoWriter()
      .message(1, header.finish())
      .message(2, kv.finish())
      .bool(3, true)
      .number(4, 7)
    const { revision, kvs, more, count } = decodeRange(message.finish())
    assert.deepEqual([revision, more, count], [42, true, 7])
    assert.deepEqual(
      kvs.map(each => ({ ...each, key: hex(each.key), value: hex(each.value) })),
      [{ key: '6b', value: '76', createRevision: 5, modRevision: 6, version: 2 }],
    )
  })

  it('decode a watch that was cancelled because of compaction', () => {
    const message = new ProtoWriter().bool(4, true).number(5, 77).text(6, 'compacted').finish()
    const { canceled, compactRevision, cancelReason } = decodeWatch(message)
    assert.deepEqual([canceled, compactRevision, cancelReason], [true, 77, 'compacted'])
  })
})

describe('progress notifications', () => {
  it('are trusted from the releases on that do not let them overtake events', () => {
    for (const version of [
      '3.4.31',
      '3.4.40',
      '3.5.13',
      '3.5.30',
      '3.6.0',
      '3.6.16',
      '3.7.0-rc.1',
      '4.0.0',
    ]) {
      assert.equal(isProgressTrusted(version), true, version)
    }
    for (const version of ['3.3.27', '3.4.23', '3.4.30', '3.5.0', '3.5.12', '', 'unknown']) {
      assert.equal(isProgressTrusted(version), false, version)
    }
  })
})
