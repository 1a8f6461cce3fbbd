import type { CapacityRequestPolicy, DeviceCapacity } from '@coxswain/api/resource/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { Quantity } from '@coxswain/apimachinery/quantity'
import { parseAmount } from '@coxswain/kinds'
import type { DeviceId, DeviceView } from './device-id.ts'

type CapacityView = DeepReadonly<DeviceCapacity>
type PolicyView = DeepReadonly<CapacityRequestPolicy>
type Requests = Readonly<Record<string, string>>

/** The consumed capacity of a device, by name. */
export type Amounts = ReadonlyMap<string, Quantity>

/** The consumed capacity of shared devices. Contains a device as soon as it is in use. */
export class ConsumedCapacity {
  readonly #devices = new Map<DeviceId, Amounts>()

  of(device: DeviceId): Amounts | undefined {
    return this.#devices.get(device)
  }

  /** Returns the undo function. */
  add(device: DeviceId, amounts: Amounts): () => void {
    const before = this.#devices.get(device)
    const sum = new Map(before)
    for (const [name, amount] of amounts) sum.set(name, sum.get(name)?.add(amount) ?? amount)
    this.#devices.set(device, sum)
    return () => {
      if (before) this.#devices.set(device, before)
      else this.#devices.delete(device)
    }
  }
}

/** What a request consumes of a device: the requested amount, rounded up according to the device's policy. */
export function consumedBy(device: DeviceView, requests: Requests = {}): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>()
  for (const [name, capacity] of Object.entries(device.capacity ?? {}))
    amounts.set(name, consumedOf(capacity, requests[name]))
  return amounts
}

/** Whether a device has that much left, besides what `others` consume. */
export function hasCapacity(
  device: DeviceView,
  requests: Requests | undefined,
  others: readonly (Amounts | undefined)[],
): boolean {
  const { capacity = {} } = device
  if (Object.keys(requests ?? {}).some(name => !Object.hasOwn(capacity, name))) return false
  for (const [name, amount] of consumedBy(device, requests)) {
    const { value, requestPolicy } = capacity[name]!
    if (violates(amount, requestPolicy)) return false
    const sum = others.reduce((total, taken) => {
      const other = taken?.get(name)
      return other ? total.add(other) : total
    }, amount)
    if (sum.compare(parseAmount(value)) > 0) return false
  }
  return true
}

function consumedOf({ value, requestPolicy: policy }: CapacityView, requested: string | undefined): Quantity {
  if (requested === undefined) return parseAmount(policy?.default ?? value)
  const amount = parseAmount(requested)
  if (policy?.validRange?.min !== undefined) return roundToRange(amount, policy.validRange)
  const fitting = policy?.validValues?.map(parseAmount).find(valid => amount.compare(valid) <= 0)
  return fitting ?? amount
}

function roundToRange(amount: Quantity, range: NonNullable<PolicyView['validRange']>): Quantity {
  const least = parseAmount(range.min)
  if (amount.compare(least) < 0) return least
  if (range.step === undefined) return amount
  const step = parseAmount(range.step).value
  const above = amount.value - least.value
  const steps = (above + step - 1n) / step
  return Quantity.of(least.value + step * steps, { format: 'BinarySI' })
}

function violates(amount: Quantity, policy: PolicyView | undefined): boolean {
  if (!policy || (policy.default !== undefined && amount.equals(parseAmount(policy.default)))) return false
  const { validRange: range, validValues = [] } = policy
  if (range) {
    if (range.max !== undefined && amount.compare(parseAmount(range.max)) > 0) return true
    if (range.step === undefined) return false
    return (amount.value - parseAmount(range.min).value) % parseAmount(range.step).value !== 0n
  }
  return validValues.length > 0 && !validValues.some(valid => amount.equals(parseAmount(valid)))
}
