import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DerElement, derTags, readDer, readDerText, readDerTime, readObjectIdentifier } from './der.ts'
import { readX509Name } from './name.ts'
import { readPem } from './pem.ts'

const element = (tag: number, ...content: readonly number[]): number[] => [tag, content.length, ...content]
const text = (value: string): number[] => [...Buffer.from(value)]
const read = (bytes: readonly number[]): DerElement => readDer(Uint8Array.from(bytes))![0]!

describe('DER', () => {
  it('is read element by element, with lengths of up to four bytes', () => {
    const long = [0x04, 0x82, 0x01, 0x00, ...new Array<number>(256).fill(7)]
    const elements = readDer(Uint8Array.from([...element(0x02, 5), ...long]))!
    assert.deepEqual(
      elements.map(({ tag, content, whole }) => [tag, content.length, whole.length]),
      [
        [0x02, 1, 3],
        [0x04, 256, 260],
      ],
    )
  })

  it('is rejected if it is truncated, has no definite length or a long tag', () => {
    for (const bytes of [
      [0x02],
      [0x02, 2, 1],
      [0x30, 0x80, 0, 0],
      [0x1f, 0x81, 1, 0],
      [0x04, 0x85, 0, 0, 0, 0, 1],
    ])
      assert.equal(readDer(Uint8Array.from(bytes)), undefined)
  })

  it('has object identifiers, texts of several alphabets, and times', () => {
    assert.equal(readObjectIdentifier(Uint8Array.of(0x55, 0x04, 0x03)), '2.5.4.3')
    assert.equal(readObjectIdentifier(Uint8Array.of(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d)), '1.2.840.113549')
    assert.equal(readDerText(read(element(derTags.utf8String, ...text('é')))), 'é')
    assert.equal(readDerText(read(element(derTags.teletexString, 0xe9))), 'é')
    assert.equal(readDerText(read(element(derTags.bmpString, 0x00, 0xe9, 0x20, 0xac))), 'é€')
    assert.equal(
      readDerTime(read(element(derTags.utcTime, ...text('491231235959Z')))),
      Date.UTC(2049, 11, 31, 23, 59, 59),
    )
    assert.equal(
      readDerTime(read(element(derTags.generalizedTime, ...text('20500101000000Z')))),
      Date.UTC(2050, 0),
    )
  })
})

describe('names', () => {
  const attribute = (last: number, value: string) =>
    element(
      derTags.set,
      ...element(derTags.sequence, ...element(0x06, 0x55, 0x04, last), ...element(0x0c, ...text(value))),
    )

  it('have the last common name and all organizations', () => {
    const name = element(
      derTags.sequence,
      ...attribute(10, 'b'),
      ...attribute(3, 'first'),
      ...attribute(10, 'a'),
      ...attribute(3, 'last'),
    )
    assert.deepEqual(readX509Name(read(name)), { commonName: 'last', organizations: ['b', 'a'] })
  })

  it('are rejected if they are malformed', () => {
    assert.equal(readX509Name(undefined), undefined)
    assert.equal(readX509Name(read(element(derTags.set))), undefined)
    assert.equal(
      readX509Name(read(element(derTags.sequence, ...element(derTags.set, ...element(derTags.sequence))))),
      undefined,
    )
  })
})

describe('PEM', () => {
  it('is read block by block, with headers counted and what lies between passed over', () => {
    const pem =
      'x\n-----BEGIN A-----\nAAEC\n-----END A-----\nnoise\n-----BEGIN B-----\nk: v\n\nAw==\n-----END B-----'
    assert.deepEqual(
      [...readPem(pem)],
      [
        { type: 'A', headers: 0, bytes: Uint8Array.of(0, 1, 2) },
        { type: 'B', headers: 1, bytes: Uint8Array.of(3) },
      ],
    )
    assert.deepEqual([...readPem('-----BEGIN A-----\n***\n-----END A-----\n')], [])
  })
})
