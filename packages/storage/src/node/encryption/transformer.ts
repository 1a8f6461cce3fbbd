import { Buffer } from 'node:buffer'
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'

/** Converts values to what is written to disk, and back. `key` is the value's key: it cannot be moved to another. */
export interface Transformer {
  encrypt(value: Uint8Array, key: string): Uint8Array | Promise<Uint8Array>
  /** Throws when it was written with another key, or was tampered with. */
  decrypt(stored: Uint8Array, key: string): Uint8Array | Promise<Uint8Array>
  /** Whether a readable value should be rewritten. @default never */
  isStale?(stored: Uint8Array): boolean
}

const gcmNonceSize = 12
const gcmTagSize = 16

/** AES-GCM: nonce, ciphertext, tag. */
export function createAesGcm(secret: Uint8Array): Transformer {
  const algorithm = `aes-${secret.length * 8}-gcm` as 'aes-256-gcm'
  return {
    encrypt(value, key) {
      const nonce = randomBytes(gcmNonceSize)
      const cipher = createCipheriv(algorithm, secret, nonce)
      cipher.setAAD(Buffer.from(key))
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()])
    },
    decrypt(stored, key) {
      if (stored.length < gcmNonceSize + gcmTagSize)
        throw new Error('the stored data was shorter than the required size')
      const end = stored.length - gcmTagSize
      const decipher = createDecipheriv(algorithm, secret, stored.subarray(0, gcmNonceSize))
      decipher.setAAD(Buffer.from(key))
      decipher.setAuthTag(stored.subarray(end))
      return Buffer.concat([decipher.update(stored.subarray(gcmNonceSize, end)), decipher.final()])
    },
  }
}

const blockSize = 16

/** AES-CBC with padding: initialization vector, ciphertext. It does not detect tampering. */
export function createAesCbc(secret: Uint8Array): Transformer {
  const algorithm = `aes-${secret.length * 8}-cbc`
  return {
    encrypt(value) {
      const vector = randomBytes(blockSize)
      const cipher = createCipheriv(algorithm, secret, vector)
      return Buffer.concat([vector, cipher.update(value), cipher.final()])
    },
    decrypt(stored) {
      if (stored.length < 2 * blockSize || stored.length % blockSize !== 0)
        throw new Error('the stored data is not a multiple of the block size')
      const decipher = createDecipheriv(algorithm, secret, stored.subarray(0, blockSize))
      return Buffer.concat([decipher.update(stored.subarray(blockSize)), decipher.final()])
    },
  }
}

const boxNonceSize = 24

/** NaCl's secretbox, XSalsa20 and Poly1305: nonce, box. */
export function createSecretbox(secret: Uint8Array): Transformer {
  return {
    encrypt(value) {
      const nonce = randomBytes(boxNonceSize)
      return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(value)])
    },
    decrypt(stored) {
      if (stored.length < boxNonceSize) throw new Error('the stored data was shorter than the required size')
      return xsalsa20poly1305(secret, stored.subarray(0, boxNonceSize)).decrypt(stored.subarray(boxNonceSize))
    },
  }
}

const infoSize = 32

/** AES-GCM with a separate key for each value, derived from one seed, so that the seed may be used very often. */
export function createSeededAesGcm(seed: Uint8Array): Transformer {
  const derive = (info: Uint8Array) =>
    createAesGcm(createHmac('sha256', seed).update(info).update(Uint8Array.of(1)).digest())
  return {
    async encrypt(value, key) {
      const info = randomBytes(infoSize)
      return Buffer.concat([info, await derive(info).encrypt(value, key)])
    },
    decrypt(stored, key) {
      if (stored.length < infoSize) throw new Error('the stored data was shorter than the required size')
      return derive(stored.subarray(0, infoSize)).decrypt(stored.subarray(infoSize), key)
    },
  }
}

/** No encryption. */
export const identity: Transformer = { encrypt: value => value, decrypt: stored => stored }
