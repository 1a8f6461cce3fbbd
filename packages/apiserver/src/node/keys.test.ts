import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { generateSigningKey, importJwk, readSigningKey, readVerificationKeys } from './keys.ts'

const input = new TextEncoder().encode('some text')

function pemOf(type: 'rsa' | 'ec', detail: number | string): { readonly priv: string; readonly pub: string } {
  const { privateKey, publicKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: detail as number })
      : generateKeyPairSync('ec', { namedCurve: detail as string })
  return {
    priv: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    pub: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }
}

describe('keys', () => {
  for (const [type, detail, algorithm] of [
    ['rsa', 2048, 'RS256'],
    ['ec', 'P-256', 'ES256'],
    ['ec', 'P-384', 'ES384'],
    ['ec', 'P-521', 'ES512'],
  ] as const) {
    it(`sign with ${algorithm}, and the public half verifies`, () => {
      const { priv, pub } = pemOf(type, detail)
      const signing = readSigningKey(priv)
      assert.equal(signing.algorithm, algorithm)
      const signature = signing.sign(input)
      for (const pem of [priv, pub]) {
        const [key] = readVerificationKeys(pem)
        assert.equal(key?.keyId, signing.keyId)
        assert.equal(key?.verify(algorithm, input, signature), true)
        const changed = Uint8Array.from(signature)
        changed[10]! ^= 1
        assert.equal(key?.verify(algorithm, input, changed), false)
        assert.equal(key?.verify(algorithm, input.slice(1), signature), false)
        assert.equal(key?.verify(algorithm, input, signature.slice(1)), false)
        const imported = importJwk(key!.jwk)
        assert.equal(imported?.verify(algorithm, input, signature), true)
        assert.deepEqual(imported?.algorithms, [algorithm])
      }
    })
  }

  it('may be several in a file, certificates and private keys too', () => {
    const pems = [pemOf('ec', 'P-256').pub, generateSigningKey(), pemOf('rsa', 2048).pub]
    const keys = readVerificationKeys(pems.join('\n'))
    assert.deepEqual(
      keys.map(({ algorithms }) => algorithms.join()),
      ['ES256', 'ES256', 'RS256'],
    )
    assert.equal(new Set(keys.map(({ keyId }) => keyId)).size, 3)
    assert.ok(!JSON.stringify(keys.map(({ jwk }) => jwk)).includes('"d"'), 'nothing private is published')
  })

  it('that are too short, of another curve, or none at all are rejected without quoting them', () => {
    assert.throws(() => readSigningKey(pemOf('rsa', 512).priv), /RSA key of 1024 bits or more/)
    assert.throws(() => readSigningKey(pemOf('ec', 'secp256k1').priv), /P-256, P-384 or P-521/)
    assert.throws(() => readSigningKey('nonsense'), /^Error: data does not contain/)
    assert.equal(importJwk({ kty: 'oct' }), undefined)
    assert.equal(importJwk({ kty: 'RSA', n: '!', e: 'AQAB' }), undefined)
    const [key] = readVerificationKeys(pemOf('rsa', 2048).pub)
    assert.equal(importJwk({ ...key!.jwk, use: 'enc' }), undefined)
    assert.equal(importJwk({ ...key!.jwk, alg: 'ES256' }), undefined)
  })
})
