import { Pod } from '@coxswain/api/core/v1'
import { ResourceClaim } from '@coxswain/api/resource/v1'
import { isNotFound } from '@coxswain/apimachinery/status'
import type { PodView } from '@coxswain/kinds'
import type { SchedulerHandle } from '../plugin.ts'
import { finalizer, retryOnConflict } from './bind-claim.ts'
import type { ClaimTracker } from './claim-tracker.ts'
import { type ClaimView, nameOf } from './device-id.ts'
import type { RequestMapping } from './extended-resources.ts'

/** How often, and how long, the cache is asked for a claim that was created, in milliseconds. */
const lookPeriod = 100
const longestLook = 120_000

/** Makes the claim for extended resources that was only thought of. */
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

/** Until the cache has it, nobody would know that its devices are taken. */
export async function untilCached(
  { env: { clock } }: SchedulerHandle,
  tracker: ClaimTracker,
  { metadata }: ClaimView,
): Promise<void> {
  const key = { namespace: metadata.namespace ?? '', name: metadata.name }
  const deadline = clock.monotonic() + longestLook
  while (!tracker.get(key) && clock.monotonic() < deadline) await clock.sleep(lookPeriod)
}

/** Tells the kubelet which devices are for which container. */
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

/** The claim goes with its devices: it was of use for one attempt only. */
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
