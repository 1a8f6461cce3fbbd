import type { ServiceAccountOptions } from '@coxswain/apiserver'
import { encodeBase64Url, encodeHex, sha256 } from '@coxswain/kit'

/** Bytes of the modulus, and so of a signature. */
const length = 256
/** What stands before a SHA-256 digest (RFC 8017, 9.2). */
const digestInfo = '3031300d060960864801650304020105000420'

/**
 * RS256 without a platform's crypto: the same tokens on every machine, in a browser too, at once. The key is in the
 * source for all to see, and the arithmetic takes a time that depends on it: this is for clusters that last as long as a
 * test, and for nothing else.
 */
export const testServiceAccounts: ServiceAccountOptions = createTestServiceAccounts()

function number(lines: readonly string[]): bigint {
  return BigInt(`0x${lines.join('')}`)
}

function createTestServiceAccounts(): ServiceAccountOptions {
  const n = number([
    'bed7e68c7dee06e1cb2d03656e2997b5ac12c60b9cf567b446536dd5edc993ade4f60e7d2b9af6836942484a5af5f9ec',
    'b1da3c459228143d25e578155e3137662b9b10853e1d9f19e3ef7c9b05fdcea126eb4d0bbcddafa2665e05d496562d5b',
    '82bf581352b5842892ab67a0bb6e1a946a844d052e99eb89c04320e82e26fd108c9990ff3112585c1cdf79bf219c4455',
    'b3bf63c3370e722e30cd10e11c35af79e45a5c8b1fc6c427793ebab12633143bc5de7417b6736c060b6d20f9da0de23a',
    '89babb7ed7d6d3dc565efc75c0f2079f619f7c5487763fd85deef6f70a45e92ffe5a0d2081ef35f70a67863c3b3f0090',
    '64e90c417b430e4a982064f2c2afaf27',
  ])
  const p = number([
    'ec4bc87138c7791d917b1524350148a59f19ecd585d9c6fe9ced912a92a3ae1a3768d0045f92851489af2fe10c97a8ff',
    '78d5dba679a4fc6b33c4022cd75139ed9925cf2c50fe6f845783b3d8676b2bb05ba1c475e7ba4397a65e8e06979a3d98',
    'd0037c92b76ff2be0970d3c4fece6bd5095da3b0880ea96260e74be2ab84438d',
  ])
  const q = number([
    'cec1d6a496591b5a8493363bfdc2f86590123d895d9970baa2d1bfae81ce834f16d9b4132fb23c6c309fae82daedd4ca',
    '64844ea9e6dc3a88fc211d4a5a89676dd0b5d7a1a824d53fa444d1d9ed277c145790e3a6876301905be439ae9b98f027',
    '5e3d7ac7fb06130eae31f0df659375dcd668e6317bf1e60989462e72a2bf1683',
  ])
  const dp = number([
    'bd9e66c02ccf2dab03a6a0a5887f7a3ba5fc18e893dbd9eb5224f61c12c6949ce7200de5a48820910597f6b502f4e521',
    'f566b037dc60004b4aa41d16bcc6aad4b6d3f777599b8403d07298acacf8fc7b2e5d171982961f4d9fad3b0da1349dff',
    '75d5866efa1334d9391c38645a116dc8ec161f9836e68518b42887e5e2bb65b5',
  ])
  const dq = number([
    'c6c82476af3a528b2f855d924602cad0d2b846c3a7e2db38054c85eee04c4d809fa6857420da4b2f757c40cafc73c6af',
    '23fef4a67317ef8b3e65140525908f894c2d5878caf146b95e54f03186c9fc888e3bf633685d2ee6bd026ad6ce30374c',
    '9255a793576bdaacb59bbc4afc1ccf279858d860611b0c20c5035daac77fd2c3',
  ])
  const qi = number([
    '31f0291ca6da717101427a5a37d635520f7ef96b9378940e5f484a6416abc58739e5d17a484690d844935b401bdcc05f',
    '9467918329a8ce7e144cfdcbe5cb79ff8c649e53aecc8fd18c38b8031f88bff525d4455a4683a1abebd06d9d4f4a98d2',
    '26f1f6c27295fd14448e58f385531b65b30cca3cba647f1c1c8407a123853d83',
  ])
  const e = 65_537n
  const keyId = 'coxswain-test'
  return {
    signingKey: {
      keyId,
      algorithm: 'RS256',
      sign(input) {
        const message = pad(input)
        const a = power(message % p, dp, p)
        const b = power(message % q, dq, q)
        const h = ((((a - b) * qi) % p) + p) % p
        return toBytes(b + h * q)
      },
    },
    verificationKeys: [
      {
        keyId,
        algorithms: ['RS256'],
        jwk: { use: 'sig', kty: 'RSA', kid: keyId, alg: 'RS256', n: encodeBase64Url(toBytes(n)), e: 'AQAB' },
        verify: (_algorithm, input, signature) =>
          signature.length === length && power(toNumber(signature), e, n) === pad(input),
      },
    ],
  }
}

function pad(input: Uint8Array): bigint {
  const tail = `00${digestInfo}${encodeHex(sha256(input))}`
  return BigInt(`0x0001${'f'.repeat(length * 2 - 4 - tail.length)}${tail}`)
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n
  for (const bit of exponent.toString(2)) {
    result = (result * result) % modulus
    if (bit === '1') result = (result * base) % modulus
  }
  return result
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${encodeHex(bytes)}`)
}

function toBytes(value: bigint): Uint8Array {
  const hex = value.toString(16).padStart(length * 2, '0')
  return Uint8Array.from({ length }, (_, i) => Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16))
}
