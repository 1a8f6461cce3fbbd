/** The range for Pods of nodes without a `podCIDR`: 10.128.0.0/10, a /24 for each node. */
const base = (10 << 24) | (128 << 16)
const prefixOfNode = 24
/** The overflow range for when a node's range is full: 10.192.0.0/10. */
const overflow: Range = { first: ((10 << 24) | (192 << 16)) >>> 0, size: 1 << 22 }

interface Range {
  readonly first: number
  readonly size: number
}

/**
 * Addresses that nothing listens on, each for one Pod at a time: from its node's `podCIDR`, or from a default range while
 * the node has none.
 */
export class PodAddresses {
  readonly #podCIDROf: (node: string) => string | undefined
  readonly #byPod = new Map<string, number>()
  readonly #taken = new Set<number>()
  /** By range: where to search next, so that an address is reused only after all others. */
  readonly #next = new Map<number, number>()
  readonly #nodes = new Map<string, number>()

  constructor(nodes: readonly string[], podCIDROf: (node: string) => string | undefined) {
    this.#podCIDROf = podCIDROf
    nodes.forEach((name, index) => void this.#nodes.set(name, index))
  }

  /** `known` is the Pod's previous address; it is kept unless another Pod has it. */
  take(uid: string, node: string, known?: string): string {
    const mine = this.#byPod.get(uid)
    if (mine !== undefined) return formatAddress(mine)
    const wanted = parseAddress(known ?? '')
    const address =
      wanted !== undefined && !this.#taken.has(wanted)
        ? wanted
        : (this.#find(this.#rangeOf(node)) ?? this.#find(overflow) ?? 0)
    this.#byPod.set(uid, address)
    this.#taken.add(address)
    return formatAddress(address)
  }

  release(uid: string): void {
    const address = this.#byPod.get(uid)
    if (address === undefined) return
    this.#byPod.delete(uid)
    this.#taken.delete(address)
  }

  #rangeOf(node: string): Range {
    const [text = '', length = ''] = this.#podCIDROf(node)?.split('/') ?? []
    const first = parseAddress(text)
    if (first !== undefined && length !== '') return { first, size: 2 ** (32 - Number(length)) }
    const index = this.#nodes.get(node) ?? 0
    return { first: (base + index * 2 ** (32 - prefixOfNode)) >>> 0, size: 2 ** (32 - prefixOfNode) }
  }

  /** The first two addresses of a range, and its last, are reserved. */
  #find({ first, size }: Range): number | undefined {
    const usable = size - 3
    const start = this.#next.get(first) ?? 0
    for (let step = 0; step < usable; step++) {
      const offset = (start + step) % usable
      const address = first + 2 + offset
      if (this.#taken.has(address)) continue
      this.#next.set(first, offset + 1)
      return address
    }
    return undefined
  }
}

/** Undefined for anything but an IPv4 address. */
function parseAddress(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  if (!match) return undefined
  return match.slice(1).reduce((sum, part) => sum * 256 + Number(part), 0)
}

function formatAddress(address: number): string {
  return [24, 16, 8, 0].map(shift => (address >>> shift) & 255).join('.')
}
