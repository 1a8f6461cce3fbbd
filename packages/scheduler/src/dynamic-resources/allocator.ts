import type { NodeView } from '@coxswain/kinds'
import { minOf, type Random } from '@coxswain/kit'
import type { AllocatedState } from './allocated-state.ts'
import { createAllocation, type GivenDevice } from './allocation-result.ts'
import { ConsumedCapacity, consumedBy, hasCapacity } from './capacity.ts'
import { type Constraint, createConstraint } from './constraints.ts'
import { Counters } from './counters.ts'
import { type ClaimView, type ClassView, type DeviceId, deviceIdOf, nameOf } from './device-id.ts'
import { gatherPools, type Pool, type SliceIndex } from './pools.ts'
import {
  type Alternatives,
  type Candidate,
  isSelectable,
  planRequest,
  type RequestPlan,
} from './request-plan.ts'
import { isTolerated } from './taints.ts'
import type { AllocationResult } from './types.ts'

/** The maximum number of devices of a claim. */
const mostDevices = 32

export interface AllocatorOptions {
  readonly allocated: AllocatedState
  readonly slices: SliceIndex
  findClass(name: string): ClassView | undefined
  readonly random: Random
  /** Throws if the search exceeds its time limit. */
  checkTime(): void
}

/** `none`: the node does not have the requested devices. */
export type Allocated =
  | { readonly kind: 'allocated'; readonly results: readonly AllocationResult[] }
  | { readonly kind: 'none'; readonly reason: string }

/**
 * Allocates devices for claims on one node: the first solution of an exhaustive search, in the order of pools, slices and
 * devices. Throws an Error for claims and classes that fail on every node.
 */
export function allocate(options: AllocatorOptions, node: NodeView, claims: readonly ClaimView[]): Allocated {
  const pools = gatherPools(options.slices, node)
  const search = new Search(options, node, claims, pools)
  if (search.run()) return { kind: 'allocated', results: search.results() }
  const isInvalid = pools.some(({ state }) => state === 'invalid')
  const reason = isInvalid ? 'invalid resource pools were encountered' : 'cannot allocate all claims'
  return { kind: 'none', reason }
}

/** The device and request being searched for. */
interface Position {
  readonly claim: number
  readonly request: number
  readonly alternative: number
  readonly device: number
}

/** `too many`: with any choice of devices, the claim exceeds its limit. */
type Outcome = 'done' | 'failed' | 'too many'

class Search {
  readonly #options: AllocatorOptions
  readonly #node: NodeView
  readonly #claims: readonly ClaimView[]
  readonly #candidates: readonly Candidate[]
  readonly #requests: readonly (readonly Alternatives[])[]
  readonly #constraints: readonly (readonly Constraint[])[]
  readonly #counters: Counters
  /** Devices allocated in this search, with their claims. */
  readonly #given = new Map<DeviceId, Set<number>>()
  readonly #capacity = new ConsumedCapacity()
  /** By claim. */
  readonly #devices: GivenDevice[][]

  constructor(
    options: AllocatorOptions,
    node: NodeView,
    claims: readonly ClaimView[],
    pools: readonly Pool[],
  ) {
    this.#options = options
    this.#node = node
    this.#claims = claims
    this.#counters = new Counters(options.allocated)
    this.#candidates = pools.flatMap(candidatesOf)
    const { findClass } = options
    const context = { node, pools, candidates: this.#candidates, findClass }
    this.#requests = claims.map(claim =>
      (claim.spec.devices?.requests ?? []).map(request => planRequest(claim, request, context)),
    )
    this.#constraints = claims.map(createConstraints)
    this.#devices = claims.map(() => [])
    for (const [index, requests] of this.#requests.entries()) checkSize(claims[index]!, requests)
  }

  run(): boolean {
    return this.#next({ claim: 0, request: 0, alternative: 0, device: 0 }, false, 0) === 'done'
  }

  results(): AllocationResult[] {
    return this.#claims.map((claim, index) =>
      createAllocation(claim, this.#requests[index]!, this.#devices[index]!, this.#node.metadata.name),
    )
  }

  /** Candidates before `from` were already tried for this request; the order within a request is irrelevant. */
  #next(at: Position, isChosen: boolean, from: number): Outcome {
    this.#options.checkTime()
    const requests = this.#requests[at.claim]
    if (!requests) return 'done'
    const alternatives = requests[at.request]
    if (!alternatives) {
      const rest = this.#next({ claim: at.claim + 1, request: 0, alternative: 0, device: 0 }, false, 0)
      return rest === 'too many' ? 'failed' : rest // another choice in this claim may need fewer there
    }
    if (alternatives.isList && !isChosen) return this.#choose(at, alternatives)
    const plan = alternatives.plans[at.alternative]!
    if (plan.all?.length === 0) return 'failed'
    if (at.device >= plan.count)
      return this.#next({ claim: at.claim, request: at.request + 1, alternative: 0, device: 0 }, false, 0)
    if (this.#devices[at.claim]!.length + plan.count - at.device > mostDevices) return 'too many'
    return plan.all ? this.#takeAll(at, plan) : this.#takeAny(at, plan, from)
  }

  #choose(at: Position, alternatives: Alternatives): Outcome {
    let isTooMany = true
    for (let alternative = 0; alternative < alternatives.plans.length; alternative++) {
      const outcome = this.#next({ ...at, alternative }, true, 0)
      if (outcome === 'too many') continue
      isTooMany = false
      if (outcome === 'failed') continue
      alternatives.chosen = alternative
      return 'done'
    }
    return isTooMany ? 'too many' : 'failed'
  }

  #takeAll(at: Position, plan: RequestPlan): Outcome {
    const undo = this.#take(at, plan, plan.all![at.device]!)
    if (!undo) return 'failed'
    const outcome = this.#next({ ...at, device: at.device + 1 }, true, 0)
    if (outcome !== 'done') undo()
    return outcome
  }

  #takeAny(at: Position, plan: RequestPlan, from: number): Outcome {
    for (let index = from; index < this.#candidates.length; index++) {
      const candidate = this.#candidates[index]!
      if (this.#isTaken(at, plan, candidate)) continue
      if (!isSelectable(plan, candidate, this.#node)) continue
      const undo = this.#take(at, plan, candidate)
      if (!undo) continue
      const outcome = this.#next({ ...at, device: at.device + 1 }, true, index + 1)
      if (outcome === 'done') return outcome
      undo()
      if (outcome === 'too many') return outcome
    }
    return 'failed'
  }

  /** Admin access ignores other allocations, but not its own. */
  #isTaken(at: Position, { adminAccess }: RequestPlan, { id, device }: Candidate): boolean {
    const claims = this.#given.get(id)
    if (adminAccess) return !device.allowMultipleAllocations && claims?.has(at.claim) === true
    return this.#options.allocated.isTaken(id) || (claims !== undefined && claims.size > 0)
  }

  /** Allocates the device within this search and returns the undo function; undefined if it is not available. */
  #take(at: Position, plan: RequestPlan, candidate: Candidate): (() => void) | undefined {
    const { id, device, pool, slice } = candidate
    if (this.#isTaken(at, plan, candidate)) return undefined
    const isShared = device.allowMultipleAllocations === true
    const taken = [this.#options.allocated.capacity.of(id), this.#capacity.of(id)]
    if (!hasCapacity(device, plan.capacity, taken)) return undefined
    if (!isTolerated(device.taints, plan.tolerations)) return undefined
    const undos: (() => void)[] = []
    const undo = () => {
      for (const step of undos.splice(0).reverse()) step()
    }
    // Sharing a device that is already in use consumes no further counters.
    const isInUse = isShared && taken.some(amounts => amounts !== undefined)
    if (device.consumesCounters?.length && !isInUse) {
      const release = this.#counters.take(pool, device)
      if (!release) return undefined
      undos.push(release)
    }
    const { request, subRequest } = plan
    const name = { request, ...(subRequest !== undefined && { subRequest }) }
    for (const constraint of this.#constraints[at.claim]!) {
      const release = constraint.add(name, device, slice.spec.driver)
      if (release) {
        undos.push(release)
        continue
      }
      undo()
      if (plan.all)
        throw new Error(
          `claim ${nameOf(plan.claim)}, request ${subRequest ?? request}: cannot add device ${id} because a claim constraint would not be satisfied`,
        )
      return undefined
    }
    const consumed = isShared ? consumedBy(device, plan.capacity) : undefined
    if (consumed) undos.push(this.#capacity.add(id, consumed))
    else undos.push(this.#mark(id, at.claim))
    const devices = this.#devices[at.claim]!
    devices.push({ plan, candidate, ...(consumed && { consumed, shareID: this.#options.random.uuid() }) })
    undos.push(() => void devices.pop())
    return undo
  }

  #mark(id: DeviceId, claim: number): () => void {
    const claims = this.#given.get(id) ?? new Set()
    this.#given.set(id, claims.add(claim))
    return () => void claims.delete(claim)
  }
}

function candidatesOf(pool: Pool): Candidate[] {
  if (pool.state !== 'usable') return []
  return pool.slices.flatMap(slice =>
    (slice.spec.devices ?? []).map(device => ({
      id: deviceIdOf({ driver: slice.spec.driver, pool: slice.spec.pool.name, device: device.name }),
      device,
      slice,
      pool,
    })),
  )
}

function createConstraints(claim: ClaimView): Constraint[] {
  return (claim.spec.devices?.constraints ?? []).map((constraint, index) => {
    const created = createConstraint(constraint)
    if (created) return created
    throw new Error(
      `claim ${nameOf(claim)}, constraint #${index}: empty constraint (unsupported constraint type?)`,
    )
  })
}

function checkSize(claim: ClaimView, requests: readonly Alternatives[]): void {
  const least = requests.reduce((sum, { plans }) => sum + minOf(plans.map(({ count }) => count)), 0)
  if (least > mostDevices)
    throw new Error(
      `claim ${nameOf(claim)}: number of requested devices ${least} exceeds the claim limit of ${mostDevices}`,
    )
}
