import assert from 'node:assert/strict'
import { constants, generateKeyPairSync, sign } from 'node:crypto'
import { describe, it } from 'node:test'
import type { SignedMessage } from '@coxswain/strategies'
import { verifySignature } from './signatures.ts'

const message = new TextEncoder().encode('a certificate request')
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const keys = {
  RSA: rsa,
  'RSA-PSS': rsa,
  ECDSA: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  Ed25519: generateKeyPairSync('ed25519'),
}
const rows: readonly (readonly [SignedMessage['scheme'], SignedMessage['hash']])[] = [
  ['RSA', 'sha256'],
  ['RSA', 'sha512'],
  ['RSA-PSS', 'sha256'],
  ['ECDSA', 'sha384'],
  ['Ed25519', undefined],
]

describe('verifySignature', () => {
  for (const [scheme, hash] of rows) {
    it(`verifies ${scheme} with ${hash ?? 'its own hash'}`, () => {
      const { privateKey: key, publicKey } = keys[scheme]
      const signature = sign(hash ?? null, message, { key, ...(scheme === 'RSA-PSS' && pss) })
      const spki = publicKey.export({ type: 'spki', format: 'der' })
      const signed = { scheme, hash, message, signature, publicKey: spki }
      assert.equal(verifySignature(signed), true)
      assert.equal(verifySignature({ ...signed, message: message.subarray(1) }), false)
      assert.equal(verifySignature({ ...signed, signature: signature.subarray(1) }), false)
    })
  }

  it('is false for a key that cannot be parsed', () => {
    const nothing = new Uint8Array(3)
    const signed = { scheme: 'RSA', hash: 'sha256', message, signature: nothing, publicKey: nothing } as const
    assert.equal(verifySignature(signed), false)
  })
})
