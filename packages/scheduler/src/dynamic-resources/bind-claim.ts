import { ResourceClaim } from '@coxswain/api/resource/v1'
import { isConflict } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import type { PodView } from '@coxswain/kinds'
import type { SchedulerHandle } from '../plugin.ts'
import { type ClaimView, nameOf } from './device-id.ts'
import type { AllocationResult } from './types.ts'

export const finalizer = 'resource.kubernetes.io/delete-protection'
const mostTries = 5
const retryPeriod = 10

export function isReservedFor({ status }: ClaimView, { metadata }: PodView): boolean {
  return status?.reservedFor?.some(({ uid }) => uid === metadata.uid) === true
}

/** Retries `write` with the current object on conflict. */
export async function retryOnConflict(
  { client, env }: SchedulerHandle,
  original: ClaimView,
  write: (claim: ClaimView) => Promise<ClaimView>,
): Promise<ClaimView> {
  const { namespace = '', name, uid } = original.metadata
  let claim = original
  for (let tries = 1; ; tries++) {
    try {
      return await write(claim)
    } catch (error) {
      if (!isConflict(error) || tries === mostTries) throw error
    }
    await env.clock.sleep(retryPeriod)
    const now = await client.get(ResourceClaim, { namespace, name })
    if (now?.metadata.uid !== uid)
      throw new Error(`get updated claim ${nameOf(original)} after conflict: not found`)
    claim = now
  }
}

/**
 * Writes the allocation and reservation of a claim. Concurrent changes are fine unless they concern its devices, or it is
 * terminating.
 */
export async function bindClaim(
  handle: SchedulerHandle,
  pod: PodView,
  original: ClaimView,
  allocation: AllocationResult | undefined,
): Promise<ClaimView> {
  const { client, env } = handle
  return await retryOnConflict(handle, original, write)

  async function write(current: ClaimView): Promise<ClaimView> {
    if (current.metadata.deletionTimestamp)
      throw new Error(`claim ${nameOf(current)} got deleted in the meantime`)
    if (allocation && current.status?.allocation)
      throw new Error(`claim ${nameOf(current)} got allocated elsewhere in the meantime`)
    const given = allocation ?? current.status?.allocation
    if (!given) throw new Error(`claim ${nameOf(current)} got deallocated elsewhere in the meantime`)
    const held = allocation ? await protect(current) : current
    const status = {
      ...held.status,
      allocation: { allocationTimestamp: formatTime(env.clock.now()), ...given },
      reservedFor: [
        ...(held.status?.reservedFor ?? []),
        { resource: 'pods', name: pod.metadata.name, uid: pod.metadata.uid },
      ],
    }
    return await client.updateStatus(ResourceClaim, { ...held, status } as ClaimView)
  }

  /** Protects it from deletion while its devices are in use. */
  async function protect(current: ClaimView): Promise<ClaimView> {
    const { finalizers = [] } = current.metadata
    if (finalizers.includes(finalizer)) return current
    const metadata = { ...current.metadata, finalizers: [...finalizers, finalizer] }
    return await client.update(ResourceClaim, { ...current, metadata } as ClaimView)
  }
}

/** Removes the pod's reservation. */
export async function releaseClaim(
  { client }: SchedulerHandle,
  pod: PodView,
  claim: ClaimView,
): Promise<void> {
  const { namespace = '', name, uid } = claim.metadata
  const patch = {
    metadata: { uid },
    status: { reservedFor: [{ $patch: 'delete', uid: pod.metadata.uid }] },
  }
  await client.patch(ResourceClaim, { namespace, name }, patch, { type: 'strategic', subresource: 'status' })
}

/** Deallocates a claim that is not reserved for other pods. */
export async function deallocateClaim({ client }: SchedulerHandle, claim: ClaimView): Promise<void> {
  const { allocation: _, reservedFor: __, devices: ___, ...status } = claim.status
  await client.updateStatus(ResourceClaim, { ...claim, status } as ClaimView)
}
