import type { PodView } from '@coxswain/kinds'
import type { SchedulerHandle } from '../plugin.ts'
import { bindClaim, isReservedFor, releaseClaim } from './bind-claim.ts'
import { isOverdue, isReadyForBinding } from './binding-conditions.ts'
import { trackerOf } from './claim-tracker.ts'
import { type ClaimState, type Claims, isWritten } from './cycle-claims.ts'
import type { ClaimView } from './device-id.ts'
import { deleteExtendedClaim, untilCached, writeExtendedClaim, writeMappings } from './extended-claim.ts'

/** How often devices are looked at that have to become ready. */
const pollPeriod = 5_000

/** Writes what was found for a claim, and makes the claim before where it is not there yet. */
export async function writeClaim(handle: SchedulerHandle, pod: PodView, state: ClaimState): Promise<void> {
  const tracker = trackerOf(handle)
  let written: ClaimView | undefined
  try {
    if (state.isExtended) state.claim = await writeExtendedClaim(handle, state.claim)
    written = await bindClaim(handle, pod, state.claim, state.allocation)
    state.claim = written
    if (state.isExtended) await untilCached(handle, tracker, written)
  } finally {
    if (written || state.allocation) tracker.settle(state.uid, written)
  }
  if (state.isExtended) await writeMappings(handle, pod, state.claim, state.mappings ?? [])
}

/** The pod does not get to the node after all: others may have the devices. */
export async function giveBack(handle: SchedulerHandle, pod: PodView, state: ClaimState): Promise<void> {
  const { claim, uid, isExtended } = state
  if (state.allocation) trackerOf(handle).settle(uid)
  if (isExtended && isWritten(claim)) await deleteExtendedClaim(handle, claim)
  else if (claim.status?.allocation && isReservedFor(claim, pod)) await releaseClaim(handle, pod, claim)
}

/** Drivers make devices ready; the pod is bound when they have. */
export async function waitUntilReady(
  handle: SchedulerHandle,
  claims: Claims,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<void> {
  const { clock } = handle.env
  const deadline = clock.monotonic() + timeout
  for (;;) {
    let isReady = true
    for (const state of claims.states) {
      const { namespace = '', name: claimName } = state.claim.metadata
      const now = trackerOf(handle).get({ namespace, name: claimName })
      if (!now) throw new Error(`could not find ResourceClaim "${namespace}/${claimName}"`)
      state.claim = now
      isReady &&= isReadyForBinding(now)
      if (!isReady && isOverdue(now, clock.now(), timeout))
        throw new Error(`device binding timeout: claim=${claimName}`)
    }
    if (isReady) return
    if (clock.monotonic() >= deadline) throw new Error('device binding timeout: context deadline exceeded')
    await clock.sleep(Math.min(pollPeriod, deadline - clock.monotonic()), { signal })
  }
}
