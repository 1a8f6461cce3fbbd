import { DeviceClass, ResourceSlice } from '@coxswain/api/resource/v1'
import { matchesNodeSelector } from '@coxswain/kinds'
import type { NodeInfo } from '../node-info.ts'
import { type Cycle, unresolvable, type Verdict } from '../plugin.ts'
import { AllocatedState } from './allocated-state.ts'
import { type AllocatorOptions, allocate } from './allocator.ts'
import { isOverdue, isReadyForBinding } from './binding-conditions.ts'
import { trackerOf } from './claim-tracker.ts'
import { type ClaimView, nameOf } from './device-id.ts'
import {
  createExtendedClaim,
  createExtendedRequests,
  findExtendedClaim,
  hasExtendedResources,
  type RequestMapping,
  resourcesToDelegate,
} from './extended-resources.ts'
import { indexSlices } from './pools.ts'
import type { AllocationResult } from './types.ts'

export const pluginName = 'DynamicResources'

/** A claim of the pod, and the devices that were found for it in this cycle. */
export interface ClaimState {
  claim: ClaimView
  /** Its pending uid while its allocation is not written. */
  readonly uid: string
  /** For extended resources: it is created when the pod has a node. */
  readonly isExtended: boolean
  allocation?: AllocationResult
  mappings?: readonly RequestMapping[]
}

/** The allocation of a claim on one node. */
export interface Found {
  readonly state: ClaimState
  /** With the requests for this node. */
  readonly claim: ClaimView
  readonly mappings: readonly RequestMapping[]
  readonly allocation: AllocationResult
}

/** The state of the pod's claims in this cycle. */
export class Claims {
  readonly states: readonly ClaimState[]
  /** Allocations of unallocated claims, by node. */
  readonly found: Map<string, readonly Found[]> = new Map()
  /** Claims whose devices cannot be used on some node. */
  readonly unavailable: Set<ClaimState> = new Set()
  readonly options: Omit<AllocatorOptions, 'checkTime'> | undefined

  constructor(claims: readonly ClaimView[], extended?: ClaimView, options?: Claims['options']) {
    const stateOf = (claim: ClaimView) => ({ claim, uid: claim.metadata.uid, isExtended: claim === extended })
    this.states = [...claims, ...(extended ? [extended] : [])].map(stateOf)
    this.options = options
  }

  get extended(): ClaimState | undefined {
    return this.states.find(({ isExtended }) => isExtended)
  }

  get unallocated(): readonly ClaimState[] {
    return this.states.filter(({ claim }) => !claim.status?.allocation)
  }
}

export const claimsOf = ({ data }: Cycle): Claims | undefined => data.get(pluginName) as Claims | undefined

/** Checks the claims before any node is filtered; returns a verdict if no node can fit. */
export function prepareClaims({ handle, pod }: Cycle, claims: readonly ClaimView[]): Claims | Verdict {
  const tracker = trackerOf(handle)
  const extended = hasExtendedResources(pod, handle)
    ? (findExtendedClaim(pod.pod, handle) ?? createExtendedClaim(pod.pod, handle.env.random.uuid()))
    : undefined
  const findClass = (className: string) => handle.get(DeviceClass, { name: className })
  const unallocated = claims.filter(({ status }) => !status?.allocation)
  for (const claim of unallocated) {
    if (tracker.isPending(claim.metadata.uid))
      return unresolvable(`resource claim ${nameOf(claim)} is in the process of being allocated`)
    for (const request of claim.spec.devices?.requests ?? []) {
      const { exactly, firstAvailable = [] } = request
      const requested = exactly
        ? [{ place: request.name, deviceClassName: exactly.deviceClassName }]
        : firstAvailable.map(({ name: sub, deviceClassName }) => ({
            place: `${request.name}/${sub}`,
            deviceClassName,
          }))
      if (requested.length === 0)
        return unresolvable(`resource claim ${nameOf(claim)}, request ${request.name}: unknown request type`)
      for (const { place, deviceClassName } of requested)
        if (!findClass(deviceClassName))
          return unresolvable(`request ${place}: device class ${deviceClassName} does not exist`)
    }
  }
  if (unallocated.length === 0 && !extended) return new Claims(claims)
  const allocated = new AllocatedState(tracker.allocated())
  const slices = indexSlices(handle.list(ResourceSlice))
  return new Claims(claims, extended, { allocated, slices, findClass, random: handle.env.random })
}

/** Whether an allocated claim can be used on the node. Devices that did not become ready in time cannot be used anywhere. */
export function isUsable(claim: ClaimView, { node }: NodeInfo, now: number, timeout: number): boolean {
  const { allocation } = claim.status ?? {}
  if (!allocation) return true
  const { nodeSelector } = allocation
  if (nodeSelector && !matchesNodeSelector(nodeSelector, node)) return false
  try {
    return isReadyForBinding(claim) || !isOverdue(claim, now, timeout)
  } catch {
    return false
  }
}

/** Allocates devices on the node. Throws for invalid claims and classes. */
export function findDevices(cycle: Cycle, node: NodeInfo, timeout: number): Verdict | undefined {
  const claims = claimsOf(cycle)!
  if (!claims.options) return undefined
  const requested = claimsFor(cycle, node)
  if (requested === 'cannot fit resource') return unresolvable(requested)
  const { clock } = cycle.handle.env
  const deadline = timeout > 0 ? clock.monotonic() + timeout : Number.POSITIVE_INFINITY
  const checkTime = () => {
    if (clock.monotonic() > deadline)
      throw new Error(`node ${node.name}: timed out trying to allocate devices`)
  }
  const outcome = allocate(
    { ...claims.options, checkTime },
    node.node,
    requested.map(({ claim }) => claim),
  )
  if (outcome.kind === 'none') return unresolvable(outcome.reason)
  const { results } = outcome
  claims.found.set(
    node.name,
    requested.map((each, index) => ({ ...each, allocation: results[index]! })),
  )
  return undefined
}

/** The claims that need devices on a node, with requests for the extended resources that it has only as devices. */
function claimsFor(
  { pod, handle, data }: Cycle,
  node: NodeInfo,
): Omit<Found, 'allocation'>[] | 'cannot fit resource' {
  const requested: Omit<Found, 'allocation'>[] = []
  for (const state of (data.get(pluginName) as Claims).unallocated) {
    const { claim } = state
    if (!state.isExtended) {
      requested.push({ state, claim, mappings: [] })
      continue
    }
    const resources = resourcesToDelegate(pod, node, handle)
    if (resources === 'cannot fit resource') return resources
    if (resources.length === 0) continue
    const { requests, mappings } = createExtendedRequests(pod.pod, resources, handle)
    requested.push({ state, claim: { ...claim, spec: { devices: { requests } } }, mappings })
  }
  return requested
}

/** Claims for extended resources have no requests until they are written. */
export function isWritten({ metadata }: ClaimView): boolean {
  return metadata.resourceVersion !== undefined
}
