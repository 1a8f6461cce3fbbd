import type { PodView } from '@coxswain/kinds'
import type { SchedulerHandle } from '../plugin.ts'
import { bindClaim, isReservedFor, releaseClaim } from './bind-claim.ts'
import { isOverdue, isReadyForBinding } from './binding-conditions.ts'
import { trackerOf } from './claim-tracker.ts'
import { type ClaimState, type Claims, isWritten } from './cycle-claims.ts'
import type { ClaimView } from './device-id.ts'
import { deleteExtendedClaim, untilCached, writeExtendedClaim, writeMappings } from './extended-claim.ts'

/** Milliseconds between two checks for prepared devices. */
const pollPeriod = 5_000

/** Writes the allocation of a claim, and creates the claim first if it does not exist yet. */
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

/** The pod could not be bound: releases its devices. */
export async function releaseClaims(handle: SchedulerHandle, pod: PodView, state: ClaimState): Promise<void> {
  const { claim, uid, isExtended } = state
  if (state.allocation) trackerOf(handle).settle(uid)
  if (isExtended && isWritten(claim)) await deleteExtendedClaim(handle, claim)
  else if (claim.status?.allocation && isReservedFor(claim, pod)) await releaseClaim(handle, pod, claim)
}

/** Waits until drivers have prepared the devices. */
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
