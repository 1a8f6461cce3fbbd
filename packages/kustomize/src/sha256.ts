/** SHA-256 (FIPS 180-4), here because the one of the platform answers asynchronously. */
const constants = new Uint32Array(64)
const initial = new Uint32Array(8)

function fractionBits(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32)
}

for (let candidate = 2, found = 0; found < 64; candidate++) {
  let isPrime = true
  for (let divisor = 2; divisor * divisor <= candidate; divisor++)
    if (candidate % divisor === 0) isPrime = false
  if (!isPrime) continue
  if (found < 8) initial[found] = fractionBits(Math.sqrt(candidate))
  constants[found++] = fractionBits(Math.cbrt(candidate))
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

export function sha256Hex(bytes: Uint8Array): string {
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(padded.length - 4, bytes.length * 8)
  const state = initial.slice()
  const words = new Uint32Array(64)
  for (let offset = 0; offset < padded.length; offset += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(offset + 4 * i)
    compress(state, words)
  }
  return Array.from(state, word => word.toString(16).padStart(8, '0')).join('')
}

function compress(state: Uint32Array, words: Uint32Array): void {
  for (let i = 16; i < 64; i++) {
    const before15 = words[i - 15]!
    const before2 = words[i - 2]!
    const s0 = rotate(before15, 7) ^ rotate(before15, 18) ^ (before15 >>> 3)
    const s1 = rotate(before2, 17) ^ rotate(before2, 19) ^ (before2 >>> 10)
    words[i] = words[i - 16]! + s0 + words[i - 7]! + s1
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + constants[i]! + words[i]!) | 0
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = state[i]! + word
}
