import { parseQuantity, type Quantity } from '@coxswain/apimachinery/quantity'

/** Quantities by the name of the resource. */
export type Amounts = ReadonlyMap<string, Quantity>
/** A `ResourceList`, as in requests, limits, capacity and allocatable. */
export type ResourceList = Readonly<Record<string, string>>

/** Pods of one workload have the same few texts thousands of times. */
const parsed = new Map<string, Quantity>()
const maxParsed = 10_000

/** A quantity, remembered by its text. */
export function parseAmount(text: string): Quantity {
  let amount = parsed.get(text)
  if (!amount) {
    amount = parseQuantity(text)
    if (parsed.size >= maxParsed) parsed.clear()
    parsed.set(text, amount)
  }
  return amount
}

/** The quantities of a resource list. */
export function readAmounts(list: ResourceList | null | undefined): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>()
  for (const name in list) amounts.set(name, parseAmount(list[name]!))
  return amounts
}

/** Both together. */
export function addAmounts(a: Amounts, b: Amounts): Map<string, Quantity> {
  const sum = new Map(a)
  addTo(sum, b)
  return sum
}

/** Adds to `sum` in place. */
export function addTo(sum: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const other = sum.get(name)
    sum.set(name, other ? other.add(amount) : amount)
  }
}

/** Raises what `amounts` has more of, in place. */
export function raiseTo(most: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const other = most.get(name)
    if (!other || amount.compare(other) > 0) most.set(name, amount)
  }
}
