import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatCheck } from './formats.ts'

const samples: Record<string, { good: string[]; bad: string[] }> = {
  'date-time': {
    good: ['2024-01-02T03:04:05Z', '2024-01-02t03:04:05.123+01:00'],
    bad: ['2024-01-02', '2024-13-02T00:00:00Z', '2024-01-02T24:00:00Z', ''],
  },
  date: { good: ['2024-02-29'], bad: ['2023-02-29', '2024-1-2', 'x'] },
  duration: { good: ['1h30m', '1d', '2 weeks', '0', '1.5s'], bad: ['', 'x', '5', '1q'] },
  ipv4: { good: ['10.0.0.1', '01.2.3.4'], bad: ['10.0.0', '256.1.1.1', '::1'] },
  ipv6: {
    good: ['::1', '2001:db8::1', '::ffff:1.2.3.4'],
    bad: ['1', ':::', '1:2:3:4:5:6:7:8:9', '10.0.0.1'],
  },
  cidr: { good: ['10.0.0.0/8', '::/0'], bad: ['10.0.0.0', '10.0.0.0/33', '::/129'] },
  mac: {
    good: ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab'],
    bad: ['01:23', '01:23-45:67:89:ab'],
  },
  hostname: { good: ['a.example.com', 'localhost', 'a'], bad: ['-bad', 'a..b', 'a.1', ''] },
  email: { good: ['a@example.com', 'A B <a@b>'], bad: ['a', '@b', 'a@', 'a b@c'] },
  uri: { good: ['https://example.com/x', '/path', 'mailto:x'], bad: ['', 'x', 'http://[::1', 'http://a b/'] },
  uuid: { good: ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'], bad: ['123'] },
  uuid4: { good: ['123e4567-e89b-42d3-a456-426614174000'], bad: ['123e4567-e89b-12d3-a456-426614174000'] },
  byte: { good: ['aGVsbG8='], bad: ['', 'aGVsbG8', 'aGVsbG8=x'] },
  isbn: { good: ['0321751043', '978-0321751041'], bad: ['0321751044'] },
  creditcard: { good: ['4111 1111 1111 1111'], bad: ['4111 1111 1111 1112', '1'] },
  hexcolor: { good: ['#fff', 'FFFFFF'], bad: ['#ff'] },
  rgbcolor: { good: ['rgb(0, 255,7)'], bad: ['rgb(256,0,0)', 'rgb(01,0,0)'] },
  ssn: { good: ['123-45-6789'], bad: ['1'] },
  bsonobjectid: { good: ['507f1f77bcf86cd799439011'], bad: ['507f'] },
  'k8s-short-name': { good: ['a-b'], bad: ['A', '-a', 'a.b'] },
  'k8s-long-name': { good: ['a.b-c'], bad: ['a..b'] },
}

describe('formatCheck', () => {
  for (const [format, { good, bad }] of Object.entries(samples)) {
    it(`validates ${format}`, () => {
      const check = formatCheck(format)!
      for (const text of good) assert.equal(check(text), true, text)
      for (const text of bad) assert.equal(check(text), false, text)
    })
  }

  it('does not know other formats', () => assert.equal(formatCheck('made-up'), undefined))

  it('takes linear time for any text', () => {
    const start = process.hrtime.bigint()
    for (const format of Object.keys(samples)) {
      const check = formatCheck(format)!
      for (const unit of ['a', '1', '-', '.', '1.', 'a@', ':', '%41', '1h', 'a-', ' ', '<', '"\\']) {
        check(unit.repeat(50_000 / unit.length))
        check(`${unit.repeat(50_000 / unit.length)}!`)
      }
    }
    assert.ok(process.hrtime.bigint() - start < 5_000_000_000n)
  })
})
