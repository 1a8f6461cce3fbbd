import { countDevices } from '../dynamic-resources/device-totals.ts'
import type { NodeInfo } from '../node-info.ts'
import type { Cycle } from '../plugin.ts'
import type { Amounts } from '../resources.ts'

export interface ResourceWeight {
  readonly name: string
  /** @default 1, also for 0 */
  readonly weight?: number
}

export const cpuAndMemory: readonly ResourceWeight[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
]

export function amountOf(amounts: Readonly<Amounts>, name: string): number {
  if (name === 'cpu') return amounts.milliCpu
  if (name === 'memory') return amounts.memory
  if (name === 'ephemeral-storage') return amounts.ephemeralStorage
  return amounts.scalars.get(name) ?? 0
}

/** The usage of a node's resource. */
export interface ScoredResource {
  readonly capacity: number
  readonly used: number
}

/**
 * A resource other than cpu and memory, provided by devices if the node has it only as such. Undefined if it does not count: the
 * node has none, or it is an extended resource that this pod does not request.
 */
export function otherResource(cycle: Cycle, node: NodeInfo, name: string): ScoredResource | undefined {
  if (name === 'ephemeral-storage') {
    const { ephemeralStorage: capacity } = node.allocatable
    return capacity === 0 ? undefined : { capacity, used: node.requested.ephemeralStorage }
  }
  if (amountOf(cycle.pod.requests, name) === 0) return undefined
  const capacity = amountOf(node.allocatable, name)
  if (capacity > 0) return { capacity, used: amountOf(node.requested, name) }
  const devices = countDevices(name, node, cycle)
  return devices.capacity === 0 ? undefined : devices
}
