import type { DeviceRequest, DeviceSelector, DeviceToleration } from '@coxswain/api/resource/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { NodeView } from '@coxswain/kinds'
import { hasCapacity } from './capacity.ts'
import {
  type ClaimView,
  type ClassView,
  type DeviceId,
  type DeviceView,
  nameOf,
  type SliceView,
} from './device-id.ts'
import { matchesSelectors } from './device-selectors.ts'
import { isReachable, type Pool } from './pools.ts'

/** A device that may be allocated to a request. */
export interface Candidate {
  readonly id: DeviceId
  readonly device: DeviceView
  readonly slice: SliceView
  readonly pool: Pool
}

/** A request, or one of the alternatives of a request. */
export interface RequestPlan {
  readonly claim: ClaimView
  readonly request: string
  /** Set for an alternative. */
  readonly subRequest?: string
  readonly class: ClassView
  readonly selectors: readonly DeepReadonly<DeviceSelector>[]
  readonly tolerations: readonly DeepReadonly<DeviceToleration>[] | undefined
  readonly capacity: Readonly<Record<string, string>> | undefined
  readonly adminAccess: boolean
  readonly count: number
  /** The devices, if all are requested. */
  readonly all?: readonly Candidate[]
  /** Cached results of selectors. */
  readonly matches: Map<DeviceId, boolean>
}

/** The alternatives of a request, the preferred first; one if it has none. */
export interface Alternatives {
  readonly plans: readonly RequestPlan[]
  readonly isList: boolean
  /** The index of the one that was satisfied. */
  chosen: number
}

export interface PlanContext {
  readonly node: NodeView
  readonly pools: readonly Pool[]
  readonly candidates: readonly Candidate[]
  findClass(name: string): ClassView | undefined
}

/** `request/alternative`. */
export function fullNameOf({ request, subRequest }: RequestPlan): string {
  return subRequest === undefined ? request : `${request}/${subRequest}`
}

/** Throws an Error for a request that is invalid, or cannot be satisfied at the moment. */
export function planRequest(
  claim: ClaimView,
  request: DeepReadonly<DeviceRequest>,
  context: PlanContext,
): Alternatives {
  const { name, exactly, firstAvailable = [] } = request
  if (exactly)
    return { plans: [createPlan(claim, { request: name, ...exactly }, context)], isList: false, chosen: 0 }
  const plans = firstAvailable.map(({ name: subRequest, ...rest }) =>
    createPlan(claim, { request: name, subRequest, ...rest }, context),
  )
  return { plans, isList: true, chosen: 0 }
}

type RequestFields = DeepReadonly<NonNullable<DeviceRequest['exactly']>> & {
  readonly request: string
  readonly subRequest?: string
}

function createPlan(claim: ClaimView, requested: RequestFields, context: PlanContext): RequestPlan {
  const { request, subRequest, deviceClassName, allocationMode = 'ExactCount' } = requested
  const place = `claim ${nameOf(claim)}, request ${subRequest ?? request}`
  const found = context.findClass(deviceClassName)
  if (!found)
    throw new Error(
      `${place}: could not retrieve device class ${deviceClassName}: deviceclass.resource.k8s.io "${deviceClassName}" not found`,
    )
  const plan: RequestPlan = {
    claim,
    request,
    ...(subRequest !== undefined && { subRequest }),
    class: found,
    selectors: requested.selectors ?? [],
    tolerations: requested.tolerations,
    capacity: requested.capacity?.requests,
    adminAccess: requested.adminAccess ?? false,
    count: requested.count ?? 1,
    matches: new Map(),
  }
  if (allocationMode === 'ExactCount') return plan
  for (const { id, state } of context.pools) {
    const problem = state === 'incomplete' ? 'being updated' : state === 'invalid' ? 'invalid' : undefined
    if (problem)
      throw new Error(`${place}: asks for all devices, but resource pool ${id} is currently ${problem}`)
  }
  const all = context.candidates.filter(
    candidate =>
      isSelectable(plan, candidate, context.node) && hasCapacity(candidate.device, plan.capacity, []),
  )
  return { ...plan, all, count: all.length }
}

/** Whether class and request select the device, and the node can access it. Throws if a selector cannot be evaluated. */
export function isSelectable(plan: RequestPlan, { id, device, slice }: Candidate, node: NodeView): boolean {
  let matches = plan.matches.get(id)
  if (matches === undefined) {
    const { driver } = slice.spec
    const seen = { ...device, driver } as Parameters<typeof matchesSelectors>[1]
    matches =
      matchesSelectors(plan.class.spec.selectors, seen, `class ${plan.class.metadata.name}`) &&
      matchesSelectors(plan.selectors, seen, `claim ${nameOf(plan.claim)}`) &&
      (slice.spec.perDeviceNodeSelection !== true || isReachable(device, node))
    plan.matches.set(id, matches)
  }
  return matches
}
