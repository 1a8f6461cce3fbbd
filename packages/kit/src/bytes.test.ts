import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  concatBytes,
  decodeBase64,
  decodeBase64Text,
  decodeBase64Url,
  decodePaddedBase64,
  decodeText,
  encodeBase64,
  encodeBase64Text,
  encodeBase64Url,
  encodeHex,
  encodeText,
} from './bytes.ts'

const samples = [0, 1, 2, 3, 4, 255, 70_000].map(length =>
  Uint8Array.from({ length }, (_, index) => (index * 31 + 7) & 0xff),
)

describe('bytes', () => {
  it('writes and reads base64 as Buffer does', () => {
    for (const bytes of samples) {
      assert.equal(encodeBase64(bytes), Buffer.from(bytes).toString('base64'))
      assert.deepEqual(decodeBase64(encodeBase64(bytes)), bytes)
      assert.equal(encodeBase64Url(bytes), Buffer.from(bytes).toString('base64url'))
      assert.deepEqual(decodeBase64Url(encodeBase64Url(bytes)), bytes)
    }
  })

  it('reads nothing that is not base64', () => {
    assert.equal(decodeBase64('a*b'), undefined)
    assert.equal(decodeBase64('a'), undefined)
    assert.equal(decodeBase64Url('YQ=='), undefined, 'padding')
    assert.equal(decodeBase64Url('YR'), undefined, 'bits that are cut off')
    assert.equal(decodeBase64Url('+w'), undefined, 'the other alphabet')
  })

  it('reads padded base64 as Go does', () => {
    assert.deepEqual(decodePaddedBase64('YW\r\nI='), Uint8Array.of(97, 98))
    assert.deepEqual(decodePaddedBase64(''), new Uint8Array())
    for (const text of ['YWI', 'YW I=', 'Y===', '====', 'YW=I', 'YWI=YWI=', 'YW-_'])
      assert.equal(decodePaddedBase64(text), undefined, text)
  })

  it('writes and reads the base64 of text', () => {
    assert.equal(encodeBase64Text('Grüße'), Buffer.from('Grüße').toString('base64'))
    assert.equal(decodeBase64Text(encodeBase64Text('Grüße')), 'Grüße')
    assert.equal(decodeBase64Text('*'), undefined)
  })

  it('writes hexadecimal, joins pieces and converts text', () => {
    assert.equal(encodeHex(Uint8Array.of(0, 15, 255)), '000fff')
    assert.deepEqual(
      concatBytes([Uint8Array.of(1), new Uint8Array(), Uint8Array.of(2, 3)]),
      Uint8Array.of(1, 2, 3),
    )
    assert.equal(decodeText(encodeText('Grüße')), 'Grüße')
  })
})
