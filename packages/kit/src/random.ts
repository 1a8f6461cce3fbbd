import { encodeHex } from './bytes.ts'

/** Randomness and ids, as everything outside `kit` sees them. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** A whole number in [0, bound), for bounds up to 2^32. */
  below(bound: number): number
  bytes(length: number): Uint8Array
  /** An RFC 4122 version 4 UUID in lower case. */
  uuid(): string
  /** `length` characters that may stand in a Kubernetes name and spell no words (no vowels, no 0, 1 or 3). */
  suffix(length: number): string
}

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** Builds a {@link Random} on a source of 32 random bits. */
function createRandom(next32: () => number): Random {
  const next = () => next32() / 2 ** 32
  const below = (bound: number) => Math.floor(next() * bound)
  const bytes = (length: number) => {
    const out = new Uint8Array(length)
    for (let i = 0; i < length; i += 4) {
      const word = next32()
      for (let j = i; j < length && j < i + 4; j++) out[j] = word >>> (8 * (j - i))
    }
    return out
  }
  return {
    next,
    below,
    bytes,
    uuid: () => formatUuid(bytes(16)),
    suffix: length => {
      let out = ''
      for (let i = 0; i < length; i++) out += suffixAlphabet[below(suffixAlphabet.length)]
      return out
    },
  }
}

function formatUuid(bytes: Uint8Array): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = encodeHex(bytes)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The most bytes the platform gives in one call. */
const quota = 65_536

/** Randomness from the platform's cryptographic generator. */
export function createRealRandom(): Random {
  const pool = new Uint32Array(256)
  let used = pool.length
  const random = createRandom(() => {
    if (used === pool.length) {
      crypto.getRandomValues(pool)
      used = 0
    }
    return pool[used++]!
  })
  return {
    ...random,
    bytes: length => {
      const out = new Uint8Array(length)
      for (let at = 0; at < length; at += quota) crypto.getRandomValues(out.subarray(at, at + quota))
      return out
    },
    uuid: () => crypto.randomUUID(),
  }
}

/** The same numbers for the same seed, on every machine (sfc32). */
export function createSeededRandom(seed: number): Random {
  let a = 0x9e3779b9 ^ seed
  let b = 0x243f6a88 ^ Math.floor(seed / 2 ** 32)
  let c = 0xb7e15162
  let counter = 1
  const next32 = () => {
    const t = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t
    return t >>> 0
  }
  for (let i = 0; i < 15; i++) next32()
  return createRandom(next32)
}
