import type { Quantity } from '@coxswain/apimachinery/quantity'
import { parseAmount } from '@coxswain/kinds'
import type { AllocatedState } from './allocated-state.ts'
import { type DeviceView, deviceIdOf, type SliceView } from './device-id.ts'
import type { Pool } from './pools.ts'

/** The remaining value of each counter of a pool, as `set/counter`. */
type Remaining = Map<string, Quantity>

/** Counters that several devices consume: partitions of one device share its memory. */
export class Counters {
  readonly #allocated: AllocatedState
  readonly #pools = new Map<Pool, Remaining>()

  constructor(allocated: AllocatedState) {
    this.#allocated = allocated
  }

  /** Consumes what the device needs and returns the undo function; undefined if there is not enough. */
  take(pool: Pool, device: DeviceView): (() => void) | undefined {
    let remaining = this.#pools.get(pool)
    if (!remaining) {
      remaining = this.#count(pool)
      this.#pools.set(pool, remaining)
    }
    consume(remaining, device)
    const undo = () => consume(remaining, device, -1)
    if ([...remaining.values()].every(left => left.sign >= 0)) return undo
    undo()
    return undefined
  }

  #count({ counterSets, slices, otherSlices }: Pool): Remaining {
    const remaining: Remaining = new Map()
    for (const { name: set, counters } of counterSets.values())
      for (const [name, { value }] of Object.entries(counters))
        remaining.set(`${set}/${name}`, parseAmount(value))
    const isInUse = ({ spec: { driver, pool } }: SliceView, { name }: DeviceView) =>
      this.#allocated.isInUse(deviceIdOf({ driver, pool: pool.name, device: name }))
    for (const slice of [...slices, ...otherSlices])
      for (const device of slice.spec.devices ?? []) if (isInUse(slice, device)) consume(remaining, device)
    return remaining
  }
}

function consume(remaining: Remaining, { consumesCounters = [] }: DeviceView, times: 1 | -1 = 1): void {
  for (const { counterSet, counters } of consumesCounters)
    for (const [name, { value }] of Object.entries(counters)) {
      const key = `${counterSet}/${name}`
      const amount = parseAmount(value)
      const left = remaining.get(key)
      if (left) remaining.set(key, times === 1 ? left.subtract(amount) : left.add(amount))
    }
}
