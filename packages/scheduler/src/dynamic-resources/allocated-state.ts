import { parseAmount } from '@coxswain/kinds'
import { ConsumedCapacity } from './capacity.ts'
import { type ClaimView, type DeviceId, deviceIdOf } from './device-id.ts'

/** The devices that are allocated to claims, and the consumed capacity of shared ones. */
export class AllocatedState {
  readonly #exclusive = new Set<DeviceId>()
  readonly #shared = new Set<DeviceId>()
  readonly capacity: ConsumedCapacity = new ConsumedCapacity()

  constructor(claims: Iterable<ClaimView>) {
    for (const { status } of claims)
      for (const result of status?.allocation?.devices?.results ?? []) {
        if (result.adminAccess) continue // admin access consumes nothing
        const id = deviceIdOf(result)
        if (result.shareID === undefined) {
          this.#exclusive.add(id)
          continue
        }
        this.#shared.add(id)
        const amounts = Object.entries(result.consumedCapacity ?? {})
        if (amounts.length > 0)
          this.capacity.add(id, new Map(amounts.map(([name, text]) => [name, parseAmount(text)])))
      }
  }

  /** Whether it is allocated exclusively. */
  isTaken(device: DeviceId): boolean {
    return this.#exclusive.has(device)
  }

  /** Whether it is allocated, exclusively or not. */
  isInUse(device: DeviceId): boolean {
    return this.#exclusive.has(device) || this.#shared.has(device)
  }
}
