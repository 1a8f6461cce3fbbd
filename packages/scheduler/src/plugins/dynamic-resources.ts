import { DeviceClass, ResourceClaim, ResourceSlice } from '@coxswain/api/resource/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isControlledBy } from '@coxswain/apimachinery/meta'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import type { PodView } from '@coxswain/kinds'
import { deallocateClaim, isReservedFor } from '../dynamic-resources/bind-claim.ts'
import { hasBindingConditions } from '../dynamic-resources/binding-conditions.ts'
import { trackerOf } from '../dynamic-resources/claim-tracker.ts'
import {
  Claims,
  claimsOf,
  findDevices,
  isUsable,
  isWritten,
  pluginName as name,
  prepareClaims,
} from '../dynamic-resources/cycle-claims.ts'
import { type ClaimView, nameOf } from '../dynamic-resources/device-id.ts'
import { deleteExtendedClaim } from '../dynamic-resources/extended-claim.ts'
import { findPodClaims, usesClaim } from '../dynamic-resources/find-claims.ts'
import { releaseClaims, waitUntilReady, writeClaim } from '../dynamic-resources/write-claims.ts'
import type { NodeInfo } from '../node-info.ts'
import {
  type ClusterEvent,
  isChangeOf,
  nodesOf,
  normalizeToHighest,
  type SchedulerHandle,
  type SchedulerPlugin,
  skip,
  unresolvable,
} from '../plugin.ts'
import { recorderOf } from '../pod-status.ts'

const noClaims = new Claims([])
/** The maximum number of alternatives of a request. */
const mostAlternatives = 8

/** The arguments of the DynamicResources plug-in. */
export interface DynamicResourcesArgs {
  /** Time limit for allocating devices on one node; 0 sets no limit. @default `10s` */
  readonly filterTimeout?: string
  /** Time limit for devices to become ready before a pod is bound. @default `10m` */
  readonly bindingTimeout?: string
}

/** Allocates devices that the pod's node can use to its resource claims. */
export function createDynamicResources(args: DynamicResourcesArgs = {}): SchedulerPlugin {
  const filterTimeout = durationToMilliseconds(parseDuration(args.filterTimeout ?? '10s'))
  const bindingTimeout = durationToMilliseconds(parseDuration(args.bindingTimeout ?? '10m'))
  return {
    name,
    kinds: [ResourceClaim, DeviceClass, ResourceSlice],
    preEnqueue: (pod, handle) => {
      if (!pod.spec.resourceClaims?.length) return undefined
      const claims = findPodClaims(pod, trackerOf(handle))
      return typeof claims === 'string' ? unresolvable(claims) : undefined
    },
    preFilter: cycle => {
      cycle.data.set(name, noClaims)
      const claims = findPodClaims(cycle.pod.pod, trackerOf(cycle.handle))
      if (typeof claims === 'string') return unresolvable(claims)
      const prepared = prepareClaims(cycle, claims)
      if ('code' in prepared) return prepared
      cycle.data.set(name, prepared)
      return prepared.states.length === 0 ? skip : undefined
    },
    filter: (cycle, node) => {
      const claims = claimsOf(cycle)!
      // It was created for another node, or for devices that are allocated to others by now.
      if (claims.extended && isWritten(claims.extended.claim))
        return unresolvable('cannot schedule extended resource claim')
      const unavailable = claims.states.filter(
        state => !isUsable(state.claim, node, cycle.handle.env.clock.now(), bindingTimeout),
      )
      const verdict = findDevices(cycle, node, filterTimeout)
      if (verdict) return verdict
      if (unavailable.length === 0) return undefined
      for (const state of unavailable) claims.unavailable.add(state)
      return unresolvable('resourceclaim not available on the node')
    },
    postFilter: async cycle => {
      const claims = claimsOf(cycle)
      if (!claims) return { message: 'not found', isLast: true }
      if (claims.states.length === 0) return { message: 'no new claims to deallocate' }
      for (const { claim } of claims.unavailable) {
        const users = claim.status?.reservedFor ?? []
        if (users.some(({ uid }) => uid !== cycle.pod.uid)) continue
        await deallocateClaim(cycle.handle, claim)
        return { message: 'deallocation of ResourceClaim completed' }
      }
      const { extended } = claims
      if (extended && isWritten(extended.claim)) {
        await deleteExtendedClaim(cycle.handle, extended.claim)
        return { message: 'deletion of ResourceClaim completed' }
      }
      return { message: 'still not schedulable' }
    },
    preScore: cycle => (claimsOf(cycle)?.states.length ? undefined : skip),
    willPreBind: cycle => Boolean(claimsOf(cycle)?.states.length),
    score: (cycle, node) => rateAlternatives(claimsOf(cycle)!, node),
    normalize: (_, scores) => normalizeToHighest(scores),
    reserve: (cycle, node) => {
      const claims = claimsOf(cycle)
      if (!claims) return undefined
      const found = claims.found.get(node.name) ?? []
      const isMissing = claims.unallocated.some(
        state => !state.isExtended && !found.some(each => each.state === state),
      )
      if (isMissing) return { code: 'Error', reasons: ['claim allocation not found for node'] }
      for (const { state, claim, mappings, allocation } of found) {
        state.allocation = allocation
        state.mappings = mappings
        state.claim = claim
        const status = { ...claim.status, allocation }
        trackerOf(cycle.handle).setPending(state.uid, { ...claim, status } as ClaimView)
      }
      return undefined
    },
    unreserve: async cycle => {
      const { handle, pod } = cycle
      for (const state of claimsOf(cycle)?.states ?? [])
        try {
          await releaseClaims(handle, pod.pod, state)
        } catch (error) {
          // The next attempt will.
          handle.env.log.warn('resource claim not released', { claim: nameOf(state.claim), error })
        }
    },
    preBind: async (cycle, node, signal) => {
      const { handle, pod } = cycle
      const claims = claimsOf(cycle)
      if (!claims) return undefined
      for (const state of claims.states) {
        if (isReservedFor(state.claim, pod.pod)) continue
        if (state.isExtended && !state.allocation) continue // the node has it without devices
        await writeClaim(handle, pod.pod, state)
      }
      if (!claims.states.some(({ claim }) => hasBindingConditions(claim))) return undefined
      const message = `waiting for binding conditions for device on node ${node.name}`
      recorderOf(handle.events, pod.pod)
        .withAction('Scheduling')
        .normal(pod.pod, 'BindingConditionsPending', message)
      await waitUntilReady(handle, claims, { timeout: bindingTimeout, signal })
      return undefined
    },
    wakesOn: mayHelp,
  }
}

/** Whether an event may make a pod schedulable that lacked devices. */
function mayHelp(event: ClusterEvent, pod: PodView, handle: SchedulerHandle): boolean {
  const { resource, action } = event
  if (resource === 'DeviceClass' || resource === 'ResourceSlice') return action !== 'delete'
  if (resource === 'Node') return nodesOf(event, 'labels', 'allocatable') !== undefined
  const isThere = () => typeof findPodClaims(pod, trackerOf(handle)) !== 'string'
  if (resource !== 'ResourceClaim') return isChangeOf(event, pod, 'claims') && isThere()
  // The claim created for it in an earlier attempt was deleted.
  if (action === 'delete') return isControlledBy(event.old as ClaimView, pod)
  if (!isThere()) return false
  const [old, claim] = [event.old as ClaimView | undefined, event.object as ClaimView]
  if (old?.status?.allocation && !claim.status?.allocation) return true
  return usesClaim(pod, claim) && !(old && deepEqual(old.status, claim.status))
}

/** Earlier alternatives in a list score higher. */
function rateAlternatives(claims: Claims, { name: node }: NodeInfo): number {
  const found = claims.found.get(node) ?? []
  let score = 0
  for (const state of claims.states) {
    const { claim } = state
    const allocation = claim.status?.allocation ?? found.find(each => each.state === state)?.allocation
    const given = new Set(allocation?.devices?.results?.map(({ request }) => request))
    for (const { name: request, firstAvailable = [] } of claim.spec.devices?.requests ?? [])
      for (const [index, sub] of firstAvailable.entries())
        if (given.has(`${request}/${sub.name}`)) score += mostAlternatives - index
  }
  return score
}
