import { parseQuantity, Quantity } from '@coxswain/apimachinery/quantity'
import type { PodView } from './pod-state.ts'

export type Amounts = ReadonlyMap<string, Quantity>

/** What a list of resources says. */
export function readAmounts(list: Readonly<Record<string, string>> | undefined): Map<string, Quantity> {
  return new Map(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)]))
}

export function addAmounts(a: Amounts, b: Amounts): Map<string, Quantity> {
  const sum = new Map(a)
  for (const [name, amount] of b) sum.set(name, (sum.get(name) ?? Quantity.zero).add(amount))
  return sum
}

function larger(a: Amounts, b: Amounts): Map<string, Quantity> {
  const most = new Map(a)
  for (const [name, amount] of b) {
    const other = most.get(name)
    if (!other || amount.compare(other) > 0) most.set(name, amount)
  }
  return most
}

const isPodLevel = (name: string) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')

/**
 * What a pod asks for, or may use: its containers and sidecars together, or what its initialization needs at once if that is
 * more; what the pod says as a whole takes their place; then what running it costs (limits only where there are any).
 */
export function amountsOfPod({ spec }: PodView, kind: 'requests' | 'limits'): Map<string, Quantity> {
  let running: Amounts = new Map()
  for (const { resources } of spec.containers) running = addAmounts(running, readAmounts(resources?.[kind]))
  let sidecars: Amounts = new Map()
  let starting: Amounts = new Map()
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const amounts = readAmounts(resources?.[kind])
    if (restartPolicy === 'Always') {
      running = addAmounts(running, amounts)
      sidecars = addAmounts(sidecars, amounts)
      starting = larger(starting, sidecars)
    } else starting = larger(starting, addAmounts(sidecars, amounts))
  }
  const total = larger(running, starting)
  for (const [name, amount] of readAmounts(spec.resources?.[kind]))
    if (isPodLevel(name)) total.set(name, amount)
  for (const [name, amount] of readAmounts(spec.overhead)) {
    if (kind === 'limits' && !total.has(name)) continue
    total.set(name, (total.get(name) ?? Quantity.zero).add(amount))
  }
  return total
}
