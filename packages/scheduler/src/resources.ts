import type { Container } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { Quantity } from '@coxswain/apimachinery/quantity'
import { BoundedMap } from '@coxswain/kit'
import type { PodView } from './pod-view.ts'

/** Amounts of what nodes have and pods ask for: thousandths of cores, bytes, and whatever else by name. */
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

/** What a container that asks for nothing is taken to use when nodes are compared. */
const unsaidMilliCpu = 100
const unsaidMemory = 200 * 1024 * 1024

type Requests = Readonly<Record<string, string>>

export function parseAmounts(list: Requests = {}): Amounts {
  const amounts = emptyAmounts()
  for (const [name, text] of Object.entries(list)) setAmount(amounts, name, text)
  return amounts
}

function setAmount(amounts: Amounts, name: string, text: string): void {
  const quantity = parseCached(text)
  if (name === 'cpu') amounts.milliCpu = Number(quantity.milliValue)
  else if (name === 'memory') amounts.memory = Number(quantity.value)
  else if (name === 'ephemeral-storage') amounts.ephemeralStorage = Number(quantity.value)
  else if (name !== 'pods') amounts.scalars.set(name, Number(quantity.value))
}

/** Pods of one deployment say the same words thousands of times. */
const parsed = new BoundedMap<string, Quantity>(5_000)

export function parseCached(text: string): Quantity {
  let quantity = parsed.get(text)
  if (!quantity) {
    quantity = Quantity.parse(text)
    parsed.set(text, quantity)
  }
  return quantity
}

export function addAmounts(to: Amounts, other: Amounts, sign: 1 | -1 = 1): void {
  to.milliCpu += sign * other.milliCpu
  to.memory += sign * other.memory
  to.ephemeralStorage += sign * other.ephemeralStorage
  for (const [name, amount] of other.scalars)
    to.scalars.set(name, (to.scalars.get(name) ?? 0) + sign * amount)
}

function raiseAmounts(to: Amounts, other: Amounts): void {
  to.milliCpu = Math.max(to.milliCpu, other.milliCpu)
  to.memory = Math.max(to.memory, other.memory)
  to.ephemeralStorage = Math.max(to.ephemeralStorage, other.ephemeralStorage)
  for (const [name, amount] of other.scalars)
    to.scalars.set(name, Math.max(to.scalars.get(name) ?? 0, amount))
}

function copyAmounts(of: Amounts): Amounts {
  return { ...of, scalars: new Map(of.scalars) }
}

/** What a pod needs: its containers together, or its greediest init container with the sidecars that run by then. */
export interface PodRequests {
  readonly requests: Amounts
  /** The same with what containers usually take that ask for nothing: what it counts on its node when nodes are compared. */
  readonly nonZero: UsualAmounts
  /** What it counts itself when nodes are compared: what it asks for as a whole is not looked at. */
  readonly scored: UsualAmounts
}

interface UsualAmounts {
  readonly milliCpu: number
  readonly memory: number
}

export function computeRequests(pod: PodView): PodRequests {
  const overhead = parseAmounts(pod.spec.overhead)
  const plain = sumRequests(pod, requests => requests)
  const usual = sumRequests(pod, withUsual('cpu', 'memory'))
  addAmounts(usual, overhead)
  const scored = { milliCpu: usual.milliCpu, memory: usual.memory }
  if (!Object.keys(pod.spec.resources?.requests ?? {}).some(isForWhole)) {
    addAmounts(plain, overhead)
    return { requests: plain, nonZero: scored, scored }
  }
  const whole = Object.entries(requestsOfWhole(pod))
  for (const [name, text] of whole) setAmount(plain, name, text)
  addAmounts(plain, overhead)
  const isSaid = (name: 'cpu' | 'memory') =>
    whole.some(([each]) => each === name) ||
    [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].some(
      ({ resources }) => resources?.requests?.[name] !== undefined,
    )
  const unsaid = (['cpu', 'memory'] as const).filter(name => !isSaid(name))
  const filled = sumRequests(pod, withUsual(...unsaid))
  for (const [name, text] of whole) setAmount(filled, name, text)
  addAmounts(filled, overhead)
  return { requests: plain, nonZero: { milliCpu: filled.milliCpu, memory: filled.memory }, scored }
}

type Adapt = (requests: Amounts, container: DeepReadonly<Container>) => Amounts

/** Counts what is usual where a container says nothing. */
function withUsual(...names: readonly ('cpu' | 'memory')[]): Adapt {
  const [hasCpu, hasMemory] = [names.includes('cpu'), names.includes('memory')]
  return (amounts, { resources }) => {
    if (hasCpu && resources?.requests?.cpu === undefined) amounts.milliCpu ||= unsaidMilliCpu
    if (hasMemory && resources?.requests?.memory === undefined) amounts.memory ||= unsaidMemory
    return amounts
  }
}

/** What the pod asks for as a whole, instead of the sum of what its containers ask for. */
function requestsOfWhole({ spec, status }: PodView): Requests {
  const wanted = Object.entries(spec.resources?.requests ?? {}).filter(([name]) => isForWhole(name))
  if (!status?.resources) return Object.fromEntries(wanted)
  const state = { wanted: spec.resources?.requests, ...status }
  return Object.fromEntries(wanted.map(([name]) => [name, largest(state, name, isInfeasible({ status }))]))
}

function isForWhole(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')
}

/** What was asked for, what was given, and what is in use. */
interface ResizeState {
  readonly wanted: Requests | undefined
  readonly allocatedResources?: Requests
  readonly resources?: { readonly requests?: Requests }
}

/** The largest of them: while it is being resized, something counts with all it may have. */
function largest(
  { wanted, allocatedResources, resources }: ResizeState,
  name: string,
  isRefused: boolean,
): string {
  const texts = [
    resources?.requests?.[name],
    allocatedResources?.[name],
    ...(isRefused ? [] : [wanted?.[name]]),
  ]
  return texts.reduce<string>(
    (most, text) => (text !== undefined && parseCached(text).compare(parseCached(most)) > 0 ? text : most),
    '0',
  )
}

function isInfeasible({ status }: Pick<PodView, 'status'>): boolean {
  const pending = status?.conditions?.find(({ type }) => type === 'PodResizePending')
  return pending?.reason === 'Infeasible'
}

/** `adapt`: what a container's requests count for. */
function sumRequests(pod: PodView, adapt: Adapt): Amounts {
  const { containers, initContainers = [] } = pod.spec
  const total = emptyAmounts()
  for (const container of containers) addAmounts(total, adapt(effectiveRequests(pod, container), container))
  const sidecars = emptyAmounts()
  const starting = emptyAmounts()
  for (const container of initContainers) {
    const isSidecar = container.restartPolicy === 'Always'
    const own = isSidecar ? effectiveRequests(pod, container) : parseAmounts(container.resources?.requests)
    const needs = adapt(own, container)
    if (isSidecar) {
      addAmounts(total, needs)
      addAmounts(sidecars, needs)
      raiseAmounts(starting, sidecars)
    } else {
      const peak = copyAmounts(sidecars)
      addAmounts(peak, needs)
      raiseAmounts(starting, peak)
    }
  }
  raiseAmounts(total, starting)
  return total
}

function effectiveRequests({ status }: PodView, { name, resources }: DeepReadonly<Container>): Amounts {
  const wanted = resources?.requests
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
  const found = statuses.length === 0 ? undefined : statuses.find(each => each.name === name)
  if (!found?.resources) return parseAmounts(wanted)
  const state = { wanted, ...found }
  const names = [wanted, found.resources.requests, found.allocatedResources].flatMap(each =>
    Object.keys(each ?? {}),
  )
  const isRefused = isInfeasible({ status })
  return parseAmounts(Object.fromEntries(names.map(each => [each, largest(state, each, isRefused)])))
}
