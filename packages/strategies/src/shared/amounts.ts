import type { JsonObject } from '@coxswain/apimachinery'
import { parseQuantity } from '@coxswain/apimachinery'
import { recordOf } from './reading.ts'

/** Amounts of resources are kept to a thousandth; what is finer is rounded up. */
export function roundAmounts(parent: JsonObject, member: string): void {
  for (const [name, text] of Object.entries(recordOf(parent[member]))) {
    const amount = parseQuantity(text)
    const rounded = amount.roundUp(-3)
    if (!rounded.equals(amount)) recordOf(parent[member])[name] = rounded.toString()
  }
}
