import type { Service } from '@coxswain/api/core/v1'
import type { IPAddress, ServiceCIDR } from '@coxswain/api/networking/v1'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  type CIDR,
  formatCIDR,
  formatIP,
  maskIP,
  parseCIDR,
  parseIP,
} from '@coxswain/apimachinery/validation'
import { ipFamilyOf } from '@coxswain/kinds'
import type { Random } from '@coxswain/kit'
import type { Decoded } from '../../decoded.ts'
import type { ClaimCondition, ClaimOperation, ObjectReader, StrategyContext } from '../../strategy.ts'

/** The storage prefix of IPAddress objects. */
export const addressPrefix = '/networking.k8s.io/ipaddresses/'
/** The storage prefix of ServiceCIDR objects. */
export const rangePrefix = '/networking.k8s.io/servicecidrs/'
/** One key a node port that is taken; not an API resource. */
export const nodePortPrefix = '/ranges/servicenodeports/'
/** The manager of IPAddress objects that the API server allocates. */
export const addressManager = 'ipallocator.k8s.io'
/** The label that names the manager of an IPAddress. */
export const managedByLabel = 'ipaddress.kubernetes.io/managed-by'

const firstNodePort = 30_000
const lastNodePort = 32_767

/** Why something cannot be had: part of an error message. */
export type Refusal = string

/** The form under which an address is known. */
export const canonicalAddress = (address: string): string => {
  const ip = parseIP(address)
  return ip ? formatIP(ip.bytes) : address
}

export interface AddressRange {
  readonly text: string
  readonly family: string
  /** Whether its ServiceCIDR may give out addresses. */
  readonly ready: boolean
  /** The network's own address and the addresses that may be taken, as numbers. */
  readonly network: bigint
  readonly first: bigint
  readonly last: bigint
}

/** Parses a CIDR as a range of Service addresses; undefined when it is not one. */
export function parseRange(text: string, ready = true): AddressRange | undefined {
  const cidr = parseCIDR(text)
  return cidr && rangeOf(text, cidr, ready)
}

/** Reads `--service-cluster-ip-range`. Throws a RangeError when it is not one CIDR or one of each family. */
export function parseServiceRanges(text: string): string[] {
  const ranges = text.split(',').map(part => part.trim())
  const families = ranges.map(range => parseRange(range)?.family)
  const isValid = families.every(family => family !== undefined) && new Set(families).size === families.length
  if (!isValid) throw new RangeError(`${JSON.stringify(text)} is not a CIDR, or one of each IP family`)
  return ranges.map(range => formatCIDR(parseCIDR(range)!))
}

function rangeOf(text: string, { address, prefix }: CIDR, ready: boolean): AddressRange {
  const network = toNumber(maskIP(address.bytes, prefix))
  const isV4 = address.bytes.length === 4
  const size = 1n << BigInt(address.bytes.length * 8 - prefix)
  const last = network + size - (isV4 ? 2n : 1n)
  return { text, family: isV4 ? 'IPv4' : 'IPv6', ready, network, first: network + 1n, last }
}

const toNumber = (bytes: Uint8Array): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)

/** The text of an address that is given as a number. */
export function addressAt(family: string, number: bigint): string {
  const bytes = new Uint8Array(family === 'IPv4' ? 4 : 16)
  for (let i = bytes.length - 1, rest = number; i >= 0; i--, rest >>= 8n) bytes[i] = Number(rest & 255n)
  return formatIP(bytes)
}

/** Every range that a ServiceCIDR declares. */
export function readRanges(objects: ObjectReader): AddressRange[] {
  return objects
    .resource(rangePrefix)
    .list()
    .flatMap(stored => {
      const object = stored.parse() as Decoded<ServiceCIDR>
      const ready = object.metadata.deletionTimestamp === undefined && isReady(object)
      return (object.spec?.cidrs ?? []).flatMap(cidr => parseRange(cidr, ready) ?? [])
    })
}

/** Without a word from the controller a range counts as ready, so that services work where none runs. */
function isReady({ status }: Decoded<ServiceCIDR>): boolean {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready')
  return condition === undefined || condition.status === 'True'
}

/** The lower part of a pool is left to those who ask for a certain value, as long as the rest is not used up. */
function reservedOf(size: bigint, limits: { readonly step: number; readonly max: number }): bigint {
  const min = 16
  if (size <= min) return 0n
  const share = Number(size / BigInt(limits.step))
  return BigInt(Math.min(Math.max(share, min), limits.max))
}

interface Pool {
  readonly first: bigint
  readonly last: bigint
  readonly reserved: bigint
  readonly isTaken: (value: bigint) => boolean
}

/** A free value, from a random place on; undefined when there is none. */
function pick({ first, last, reserved, isTaken }: Pool, random: Random): bigint | undefined {
  const middle = first + reserved
  for (const [low, high] of [
    [middle, last],
    [first, middle - 1n],
  ] as const) {
    const size = high - low + 1n
    if (size <= 0n) continue
    const start = BigInt(random.below(Math.min(Number(size), 2 ** 32)))
    for (let i = 0n; i < size; i++) {
      const value = low + ((start + i) % size)
      if (!isTaken(value)) return value
    }
  }
  return undefined
}

/**
 * What one write of a service takes and gives back. Nothing is taken until the service itself is stored: conditions and
 * operations are part of that transaction, so that nothing can be taken twice or leak.
 */
export class ServiceClaim {
  readonly conditions: ClaimCondition[] = []
  readonly operations: ClaimOperation[] = []
  readonly #context: StrategyContext
  readonly #service: { readonly namespace: string; readonly name: string }
  readonly #taken = new Set<string>()

  constructor(context: StrategyContext, service: Decoded<Service>) {
    const { namespace, name } = service.metadata as { namespace: string; name: string }
    this.#context = context
    this.#service = { namespace, name }
  }

  get isDryRun(): boolean {
    return this.#context.dryRun
  }

  /** Takes `address`; a text says why that cannot be. */
  takeAddress(address: string): Refusal | undefined {
    const ip = canonicalAddress(address)
    const family = ipFamilyOf(ip)
    const number = toNumber(parseIP(ip)!.bytes)
    const ranges = readRanges(this.#context.objects).filter(range => range.ready && range.family === family)
    const isInside = ranges.some(({ first, last }) => number >= first && number <= last)
    if (this.#context.dryRun) {
      const valid = ranges[0]?.text ?? ''
      return isInside
        ? undefined
        : `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${valid}`
    }
    if (!isInside) return 'the provided network does not match the current range'
    if (this.#isAddressTaken(ip)) return 'provided IP is already allocated'
    this.#putAddress(ip)
    return undefined
  }

  /** Takes any address of the family; undefined when all are taken. */
  takeNextAddress(family: string): string | undefined {
    const { objects, random, dryRun } = this.#context
    for (const range of readRanges(objects)) {
      if (!range.ready || range.family !== family) continue
      if (dryRun) return addressAt(family, range.network)
      const { network, first, last } = range
      const reserved = reservedOf(last - network + 1n, { step: 16, max: 256 })
      const isTaken = (value: bigint) => this.#isAddressTaken(addressAt(family, value))
      const found = pick({ first, last, reserved, isTaken }, random)
      if (found === undefined) continue
      const ip = addressAt(family, found)
      this.#putAddress(ip)
      return ip
    }
    return undefined
  }

  takePort(port: number): Refusal | undefined {
    if (this.#context.dryRun) {
      if (this.#isPortTaken(port)) return 'provided port is already allocated'
      this.#taken.add(portKey(port))
      return undefined
    }
    if (port < firstNodePort || port > lastNodePort)
      return `provided port is not in the valid range. The range of valid ports is ${firstNodePort}-${lastNodePort}`
    if (this.#isPortTaken(port)) return 'provided port is already allocated'
    this.#putPort(port)
    return undefined
  }

  takeNextPort(): number | undefined {
    const first = BigInt(firstNodePort)
    const last = BigInt(lastNodePort)
    const reserved = reservedOf(last - first + 1n, { step: 32, max: 128 })
    const isTaken = (value: bigint) => this.#isPortTaken(Number(value))
    const found = pick({ first, last, reserved, isTaken }, this.#context.random)
    if (found === undefined) return undefined
    this.#putPort(Number(found))
    return Number(found)
  }

  releaseAddress(address: string): void {
    const operation = releaseAddress(this.#context.objects, address, this.#service)
    if (operation) this.operations.push(operation)
  }

  releasePort(port: number): void {
    if (!this.#taken.has(portKey(port))) this.operations.push({ type: 'delete', key: portKey(port) })
  }

  #isAddressTaken(ip: string): boolean {
    const key = addressPrefix + ip
    return this.#taken.has(key) || this.#context.objects.resource(addressPrefix).get(key) !== undefined
  }

  #isPortTaken(port: number): boolean {
    const key = portKey(port)
    return this.#taken.has(key) || this.#context.objects.resource(nodePortPrefix).get(key) !== undefined
  }

  #putAddress(ip: string): void {
    this.#put(addressPrefix + ip, createIPAddress(this.#context, ip, this.#service))
  }

  #putPort(port: number): void {
    this.#put(portKey(port), createPortEntry(port, this.#service))
  }

  #put(key: string, object: JsonObject): void {
    this.#taken.add(key)
    this.conditions.push({ key, modRevision: 0 })
    this.operations.push({ type: 'put', key, object })
  }
}

/** The storage key of an allocated node port. */
export const portKey = (port: number): string => nodePortPrefix + port

interface Owner {
  readonly namespace: string
  readonly name: string
}

/** How the store remembers who has a node port. */
export function createPortEntry(port: number, { namespace, name }: Owner): JsonObject {
  return {
    kind: 'NodePortAllocation',
    apiVersion: 'v1',
    metadata: { name: String(port) },
    parentRef: { resource: 'services', namespace, name },
  }
}

/** The IPAddress object of an address that a Service has. */
export function createIPAddress(
  { clock, random }: Pick<StrategyContext, 'clock' | 'random'>,
  ip: string,
  { namespace, name }: Owner,
): JsonObject {
  return {
    kind: 'IPAddress',
    apiVersion: 'networking.k8s.io/v1',
    metadata: {
      name: ip,
      uid: random.uuid(),
      creationTimestamp: formatTime(clock.now()),
      labels: {
        'ipaddress.kubernetes.io/ip-family': ipFamilyOf(ip),
        [managedByLabel]: addressManager,
      },
    },
    spec: { parentRef: { resource: 'services', namespace, name } },
  }
}

/** Whether an IPAddress is a service's. */
export function isOwnedBy(address: Pick<Decoded<IPAddress>, 'spec'>, { namespace, name }: Owner): boolean {
  const parent = address.spec?.parentRef
  return parent?.resource === 'services' && parent.namespace === namespace && parent.name === name
}

/** Gives an address back if it is `owner`'s; an address with finalizers has to be deleted by who set them. */
export function releaseAddress(
  objects: ObjectReader,
  address: string,
  owner: Owner,
): ClaimOperation | undefined {
  const key = addressPrefix + canonicalAddress(address)
  const stored = objects.resource(addressPrefix).get(key)
  if (!stored) return undefined
  const object = stored.parse() as Decoded<IPAddress>
  const isOwn = isOwnedBy(object, owner)
  const isHeld = (object.metadata.finalizers ?? []).length > 0
  return isOwn && !isHeld ? { type: 'delete', key } : undefined
}
