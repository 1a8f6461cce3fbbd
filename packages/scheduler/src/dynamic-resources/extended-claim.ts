import { Pod } from '@coxswain/api/core/v1'
import { ResourceClaim } from '@coxswain/api/resource/v1'
import { isNotFound } from '@coxswain/apimachinery/status'
import type { PodView } from '@coxswain/kinds'
import type { SchedulerHandle } from '../plugin.ts'
import { finalizer, retryOnConflict } from './bind-claim.ts'
import type { ClaimTracker } from './claim-tracker.ts'
import { type ClaimView, nameOf } from './device-id.ts'
import type { RequestMapping } from './extended-resources.ts'

/** Poll period and timeout for a created claim to appear in the cache, in milliseconds. */
const pollPeriod = 100
const pollTimeout = 120_000

/** Creates the claim for extended resources, which existed only in memory. */
export async function writeExtendedClaim({ client }: SchedulerHandle, claim: ClaimView): Promise<ClaimView> {
  const { namespace = '', generateName = '', ownerReferences, annotations } = claim.metadata
  const metadata = { namespace, generateName, ownerReferences, annotations }
  try {
    return await client.create(ResourceClaim, { metadata, spec: claim.spec } as Parameters<
      typeof client.create<typeof ResourceClaim>
    >[1])
  } catch (error) {
    const { message } = error as Error
    throw new Error(`create claim for extended resources ${nameOf(claim)}: ${message}`, { cause: error })
  }
}

/** Until the cache has it, its devices would not count as allocated. */
export async function untilCached(
  { env: { clock } }: SchedulerHandle,
  tracker: ClaimTracker,
  { metadata }: ClaimView,
): Promise<void> {
  const key = { namespace: metadata.namespace ?? '', name: metadata.name }
  const deadline = clock.monotonic() + pollTimeout
  while (!tracker.get(key) && clock.monotonic() < deadline) await clock.sleep(pollPeriod)
}

/** Records for the kubelet which devices belong to which container. */
export async function writeMappings(
  { client }: SchedulerHandle,
  { metadata }: PodView,
  claim: ClaimView,
  requestMappings: readonly RequestMapping[],
): Promise<void> {
  const { namespace = '', name, uid } = metadata
  const extendedResourceClaimStatus = { requestMappings, resourceClaimName: claim.metadata.name }
  const patch = { metadata: { uid }, status: { extendedResourceClaimStatus } }
  await client.patch(Pod, { namespace, name }, patch, { type: 'strategic', subresource: 'status' })
}

/** Deletes the claim and its allocation: it was created for one attempt only. */
export async function deleteExtendedClaim(handle: SchedulerHandle, claim: ClaimView): Promise<void> {
  const { client } = handle
  const key = { namespace: claim.metadata.namespace ?? '', name: claim.metadata.name }
  try {
    await retryOnConflict(handle, claim, async current => {
      const finalizers = current.metadata.finalizers?.filter(each => each !== finalizer) ?? []
      return await client.update(ResourceClaim, {
        ...current,
        metadata: { ...current.metadata, finalizers },
      } as ClaimView)
    })
    await client.delete(ResourceClaim, key, { preconditions: { uid: claim.metadata.uid } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
