/** SHA-256 as a pure function: discovery's hashes must not depend on a platform's crypto. Not for secrets. */
export function sha256(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const state = initial.slice()
  const padded = pad(message)
  const schedule = new Uint32Array(64)
  for (let at = 0; at < padded.byteLength; at += 64) compress(state, schedule, { padded, at })
  const digest = new Uint8Array(32)
  const view = new DataView(digest.buffer)
  for (const [i, value] of state.entries()) view.setUint32(i * 4, value)
  return digest
}

function pad(message: Uint8Array): DataView {
  const length = (((message.length + 8) >> 6) << 6) + 64
  const bytes = new Uint8Array(length)
  bytes.set(message)
  bytes[message.length] = 0x80
  const view = new DataView(bytes.buffer)
  view.setUint32(length - 8, Math.floor(message.length / 0x2000_0000))
  view.setUint32(length - 4, (message.length << 3) >>> 0)
  return view
}

function compress(state: Uint32Array, w: Uint32Array, block: { padded: DataView; at: number }): void {
  for (let i = 0; i < 16; i++) w[i] = block.padded.getUint32(block.at + i * 4)
  for (let i = 16; i < 64; i++) {
    const [a, b] = [word(w, i - 15), word(w, i - 2)]
    const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)
    const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10)
    w[i] = word(w, i - 16) + s0 + word(w, i - 7) + s1
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + word(constants, i) + word(w, i)) | 0
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
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = word(state, i) + value
}

function word(words: Uint32Array, at: number): number {
  return words[at] ?? 0
}

function rotate(value: number, by: number): number {
  return (value >>> by) | (value << (32 - by))
}

/** The first 32 bits of the fractional parts of roots of the first primes. */
function fractions(count: number, root: (prime: number) => number): Uint32Array {
  const words = new Uint32Array(count)
  for (let candidate = 2, found = 0; found < count; candidate++) {
    if (!isPrime(candidate)) continue
    const value = root(candidate)
    words[found++] = Math.floor((value - Math.floor(value)) * 2 ** 32)
  }
  return words
}

function isPrime(value: number): boolean {
  for (let divisor = 2; divisor * divisor <= value; divisor++) if (value % divisor === 0) return false
  return true
}

const initial: Uint32Array = fractions(8, Math.sqrt)
const constants: Uint32Array = fractions(64, Math.cbrt)
