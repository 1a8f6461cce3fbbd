import { ResourceSlice } from '@coxswain/api/resource/v1'
import type { NodeInfo } from '../node-info.ts'
import type { Cycle } from '../plugin.ts'
import { AllocatedState } from './allocated-state.ts'
import { trackerOf } from './claim-tracker.ts'
import { type ClassView, deviceIdOf, type SliceView } from './device-id.ts'
import { matchesSelectors } from './device-selectors.ts'
import { findClassOf } from './extended-resources.ts'
import { isReachable } from './pools.ts'

/** How many devices of an extended resource a node has, and how many are allocated. */
export interface DeviceTotals {
  readonly capacity: number
  readonly used: number
}

const none: DeviceTotals = { capacity: 0, used: 0 }

export function countDevices(resource: string, node: NodeInfo, cycle: Cycle): DeviceTotals {
  const { handle } = cycle
  const found = findClassOf(resource, handle)
  if (!found) return none
  const allocated = allocatedIn(cycle)
  let capacity = 0
  let used = 0
  try {
    for (const slice of handle.list(ResourceSlice)) {
      const { driver, pool } = slice.spec
      for (const device of devicesFor(slice, node, found)) {
        capacity++
        if (allocated.isInUse(deviceIdOf({ driver, pool: pool.name, device: device.name }))) used++
      }
    }
  } catch (error) {
    handle.env.log.warn('failed to count devices', { resource, node: node.name, error })
    return none
  }
  return { capacity, used }
}

function devicesFor({ spec }: SliceView, { node }: NodeInfo, { metadata, spec: { selectors } }: ClassView) {
  const isEach = spec.perDeviceNodeSelection === true
  if (!isEach && !isReachable(spec, node)) return []
  return (spec.devices ?? []).filter(device => {
    if (isEach && !isReachable(device, node)) return false
    const seen = { ...device, driver: spec.driver } as Parameters<typeof matchesSelectors>[1]
    return matchesSelectors(selectors, seen, `class ${metadata.name}`)
  })
}

const key = 'DeviceTotals'

/** Computed once per cycle. */
function allocatedIn({ data, handle }: Cycle): AllocatedState {
  const state =
    (data.get(key) as AllocatedState | undefined) ?? new AllocatedState(trackerOf(handle).allocated())
  data.set(key, state)
  return state
}
