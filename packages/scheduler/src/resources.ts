import { Quantity } from '@coxswain/apimachinery/quantity'
import {
  isPodLevelResource,
  type PodView,
  parseAmount,
  podRequests,
  type ResourceList,
} from '@coxswain/kinds'

/** Amounts of resources: milli-CPUs, bytes, and others by name. */
export interface Amounts {
  milliCpu: number
  memory: number
  ephemeralStorage: number
  readonly scalars: Map<string, number>
}

export const emptyAmounts = (): Amounts => ({
  milliCpu: 0,
  memory: 0,
  ephemeralStorage: 0,
  scalars: new Map(),
})

/** The default requests of containers without any, for scoring. */
const usual: ReadonlyMap<string, Quantity> = new Map([
  ['cpu', Quantity.parse('100m')],
  ['memory', Quantity.parse('200Mi')],
])

export function parseAmounts(list: ResourceList = {}): Amounts {
  const amounts = emptyAmounts()
  for (const [name, text] of Object.entries(list)) setAmount(amounts, name, parseAmount(text))
  return amounts
}

function countAmounts(quantities: ReadonlyMap<string, Quantity>): Amounts {
  const amounts = emptyAmounts()
  for (const [name, quantity] of quantities) setAmount(amounts, name, quantity)
  return amounts
}

function setAmount(amounts: Amounts, name: string, quantity: Quantity): void {
  if (name === 'cpu') amounts.milliCpu = Number(quantity.milliValue)
  else if (name === 'memory') amounts.memory = Number(quantity.value)
  else if (name === 'ephemeral-storage') amounts.ephemeralStorage = Number(quantity.value)
  else if (name !== 'pods') amounts.scalars.set(name, Number(quantity.value))
}

export function addAmounts(to: Amounts, other: Amounts, sign: 1 | -1 = 1): void {
  to.milliCpu += sign * other.milliCpu
  to.memory += sign * other.memory
  to.ephemeralStorage += sign * other.ephemeralStorage
  for (const [name, amount] of other.scalars)
    to.scalars.set(name, (to.scalars.get(name) ?? 0) + sign * amount)
}

/** The requests of a pod, computed once. */
export interface PodRequests {
  readonly requests: Amounts
  /** The same with default requests for containers without any: what an existing pod counts for in scoring. */
  readonly nonZero: UsualAmounts
  /** What the pod being scheduled counts for in scoring: its pod-level requests are ignored. */
  readonly scored: UsualAmounts
}

interface UsualAmounts {
  readonly milliCpu: number
  readonly memory: number
}

export function computeRequests(pod: PodView): PodRequests {
  const total = podRequests(pod, { useStatus: true })
  const requests = countAmounts(total)
  const names = Object.keys(pod.spec.resources?.requests ?? {}).filter(isPodLevelResource)
  const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]
  const sets = (name: string) => (container: (typeof all)[number]) =>
    container.resources?.requests?.[name] !== undefined
  const isComplete = names.length === 0 && all.every(sets('cpu')) && all.every(sets('memory'))
  const scored = isComplete
    ? total
    : podRequests(pod, { useStatus: true, excludePodLevel: true, missing: usual })
  if (names.length === 0) return { requests, nonZero: countUsual(scored), scored: countUsual(scored) }
  const isSet = (name: string) => names.includes(name) || all.some(sets(name))
  const missing = new Map([...usual].filter(([name]) => !isSet(name)))
  const nonZero = podRequests(pod, { useStatus: true, missing })
  return { requests, nonZero: countUsual(nonZero), scored: countUsual(scored) }
}

function countUsual(amounts: ReadonlyMap<string, Quantity>): UsualAmounts {
  return {
    milliCpu: Number(amounts.get('cpu')?.milliValue ?? 0),
    memory: Number(amounts.get('memory')?.value ?? 0),
  }
}
