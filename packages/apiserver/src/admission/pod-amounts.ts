import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { parseQuantity, Quantity } from '@coxswain/apimachinery/quantity'
import { aggregate, isHugePages } from '@coxswain/strategies'

export type Amounts = Map<string, Quantity>

export function readAmounts(value: unknown): Amounts {
  const amounts: Amounts = new Map()
  if (!isObject(value)) return amounts
  for (const [name, text] of Object.entries(value)) amounts.set(name, parseQuantity(String(text)))
  return amounts
}

const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name)

/** What a pod's containers ask for together; what the pod asks for as a whole takes its place. */
export function amountsOfPod(spec: JsonObject, kind: 'requests' | 'limits'): Amounts {
  const amounts = new Map(aggregate(spec, kind))
  const whole = isObject(spec.resources) ? spec.resources[kind] : undefined
  for (const [name, amount] of readAmounts(whole)) if (isPodLevel(name)) amounts.set(name, amount)
  return amounts
}

/** The same with what running the pod itself costs; limits only where there are any. */
export function amountsWithOverhead(spec: JsonObject, kind: 'requests' | 'limits'): Amounts {
  const amounts = amountsOfPod(spec, kind)
  for (const [name, amount] of readAmounts(spec.overhead)) {
    if (kind === 'limits' && !amounts.has(name)) continue
    amounts.set(name, (amounts.get(name) ?? Quantity.zero).add(amount))
  }
  return amounts
}
