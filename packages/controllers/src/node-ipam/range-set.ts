import { type CIDR, formatCIDR, formatIP, parseCIDR } from '@coxswain/apimachinery/validation'
import { contains, overlap } from '../ip-range.ts'

/** IPv6 ranges are split into at most 2 to the power of this. */
const mostBits = 16

/** One range split into blocks of one size, for nodes. The nodes hold the allocations. */
export class RangeSet {
  readonly range: CIDR
  readonly #blockPrefix: number
  readonly #base: bigint
  /** The number of bits within a block. */
  readonly #shift: bigint
  readonly count: number
  /** Blocks are allocated in turn, so that a released one is not reused at once. */
  #next = 0

  /** @throws if the range cannot be split into blocks of that size */
  constructor(range: CIDR, blockPrefix: number) {
    const bits = range.address.bytes.length * 8
    const text = formatCIDR(range)
    if (blockPrefix < range.prefix || blockPrefix > bits)
      throw new Error(`cannot split ${text} into blocks of /${blockPrefix}`)
    if (bits === 128 && blockPrefix - range.prefix > mostBits)
      throw new Error(`cannot split ${text} into blocks of /${blockPrefix}: too many`)
    this.range = range
    this.#blockPrefix = blockPrefix
    this.#shift = BigInt(bits - blockPrefix)
    this.count = 2 ** (blockPrefix - range.prefix)
    this.#base = toNumber(range.address.bytes)
  }

  /** The next block that does not overlap with allocated ranges; undefined if there is none. */
  allocate(taken: readonly CIDR[]): string | undefined {
    const blocked = new Set<number>()
    for (const each of taken) {
      const [first, last] = this.#indexes(each) ?? [0, -1]
      for (let index = first; index <= last; index++) blocked.add(index)
    }
    for (let tries = 0; tries < this.count; tries++) {
      const index = this.#next
      this.#next = (index + 1) % this.count
      if (!blocked.has(index)) return this.#block(index)
    }
    return undefined
  }

  /** The first and the last block that a range overlaps with. */
  #indexes(other: CIDR): readonly [number, number] | undefined {
    if (!overlap(this.range, other)) return undefined
    if (contains(other, this.range)) return [0, this.count - 1]
    const first = toNumber(other.address.bytes) - this.#base
    const bits = other.address.bytes.length * 8
    const last = first + (1n << BigInt(bits - other.prefix)) - 1n
    return [Number(first >> this.#shift), Number(last >> this.#shift)]
  }

  #block(index: number): string {
    const { bytes } = this.range.address
    let value = this.#base + (BigInt(index) << this.#shift)
    const address = new Uint8Array(bytes.length)
    for (let at = bytes.length - 1; at >= 0; at--) {
      address[at] = Number(value & 0xffn)
      value >>= 8n
    }
    return `${formatIP(address)}/${this.#blockPrefix}`
  }
}

const toNumber = (bytes: Uint8Array): bigint =>
  bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)

/** Parses ranges; invalid ones are skipped. */
export function parseRanges(texts: readonly string[]): CIDR[] {
  return texts.flatMap(text => parseCIDR(text) ?? [])
}
