import type { JsonObject } from '@coxswain/apimachinery/json'
import { parseQuantity, Quantity } from '@coxswain/apimachinery/quantity'
import { listOf, objectOf, recordOf } from '../../shared/reading.ts'

const counted = ['cpu', 'memory']

/** Sums by resource; what is zero is not there. */
type Amounts = Map<string, Quantity>

function addTo(sums: Amounts, amounts: unknown): string[] {
  const found = counted.filter(name => {
    const text = recordOf(amounts)[name]
    return text !== undefined && parseQuantity(text).sign > 0
  })
  for (const name of found)
    sums.set(name, (sums.get(name) ?? Quantity.zero).add(parseQuantity(recordOf(amounts)[name]!)))
  return found
}

/** Guaranteed when everything is limited to what it asks for, BestEffort when nothing is asked for, else Burstable. */
export function qosClassOf(pod: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const spec = objectOf(pod.spec)
  const requests: Amounts = new Map()
  const limits: Amounts = new Map()
  let limited = true
  for (const { requests: asked, limits: allowed } of sharesOf(spec)) {
    addTo(requests, asked)
    if (addTo(limits, allowed).length < counted.length) limited = false
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  const guaranteed =
    limited &&
    requests.size === limits.size &&
    [...requests].every(([name, amount]) => limits.get(name)?.equals(amount))
  return guaranteed ? 'Guaranteed' : 'Burstable'
}

/** The resources that count: the pod's own where it has any, else those of its containers. */
function sharesOf(spec: JsonObject): JsonObject[] {
  const own = objectOf(spec.resources)
  const hasOwn = Object.keys(recordOf(own.requests)).length + Object.keys(recordOf(own.limits)).length > 0
  if (hasOwn) return [own]
  return [...listOf(spec.containers), ...listOf(spec.initContainers)].map(({ resources }) =>
    objectOf(resources),
  )
}
