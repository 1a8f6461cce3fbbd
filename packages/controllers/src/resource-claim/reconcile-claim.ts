import { Pod } from '@coxswain/api/core/v1'
import { ResourceClaim } from '@coxswain/api/resource/v1'
import { getControllerOf } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import type { ReconcileContext } from '@coxswain/runtime'
import { type ClaimView, isDone } from './reconcile-pod.ts'

const finalizer = 'resource.kubernetes.io/delete-protection'

/** Removes the reservations of deleted and finished pods; deallocates after the last of them. */
export async function reconcileClaim(context: ReconcileContext): Promise<void> {
  const { client, key } = context
  const claim = await client.get(ResourceClaim, key)
  if (!claim) return
  const reservedFor = claim.status?.reservedFor ?? []
  const uses = await Promise.all(
    reservedFor.map(
      async ({ apiGroup = '', resource, name, uid }) =>
        apiGroup !== '' || resource !== 'pods' || (await stillRuns(context, name, uid)),
    ),
  )
  const remaining = reservedFor.filter((_, index) => uses[index])
  const isProtected = claim.metadata.finalizers?.includes(finalizer) ?? false
  let current: ClaimView = claim
  const isIdle = remaining.length === 0
  const isTerminating = claim.metadata.deletionTimestamp !== undefined
  if (remaining.length < reservedFor.length)
    current = await writeStatus(context, claim, {
      reservedFor: remaining,
      deallocates: isIdle && isProtected,
    })
  else if (isIdle && isTerminating && isProtected && claim.status?.allocation)
    current = await writeStatus(context, claim, { reservedFor: remaining, deallocates: true })
  const lostAllocation =
    !current.status?.allocation && (remaining.length < reservedFor.length || isTerminating)
  // A finalizer without an allocation may belong to an allocation in progress.
  if (isIdle && isProtected && lostAllocation) {
    const finalizers = current.metadata.finalizers?.filter(name => name !== finalizer)
    current = await client.update(ResourceClaim, {
      ...current,
      metadata: { ...current.metadata, finalizers },
    } as ClaimView)
  }
  if (isIdle && !isTerminating) await deleteUnneeded(context, current)
}

interface StatusUpdate {
  readonly reservedFor: NonNullable<NonNullable<ClaimView['status']>['reservedFor']>
  readonly deallocates: boolean
}

async function writeStatus(
  { client }: ReconcileContext,
  claim: ClaimView,
  { reservedFor, deallocates }: StatusUpdate,
): Promise<ClaimView> {
  const { allocation, reservedFor: _, ...others } = claim.status ?? {}
  const status = {
    ...others,
    ...(allocation && !deallocates && { allocation }),
    ...(reservedFor.length > 0 && { reservedFor }),
  }
  return await client.updateStatus(ResourceClaim, { ...claim, status })
}

/** Reads unknown pods from the server: the scheduler may be ahead of the cache. */
async function stillRuns({ client, key }: ReconcileContext, name: string, uid: string): Promise<boolean> {
  const { namespace = '' } = key
  const pod =
    (await client.get(Pod, { namespace, name })) ??
    (await client.get(Pod, { namespace, name }, { cached: false }))
  return pod?.metadata.uid === uid && !isDone(pod)
}

/** A claim generated for a pod that will not run any more is deleted before the pod. */
async function deleteUnneeded({ client, key }: ReconcileContext, claim: ClaimView): Promise<void> {
  const owner = getControllerOf(claim)
  if (owner?.kind !== 'Pod') return
  const pod = await client.get(Pod, { namespace: key.namespace ?? '', name: owner.name })
  if (!pod || (pod.metadata.uid === owner.uid && !isDone(pod))) return
  try {
    await client.delete(ResourceClaim, key, { preconditions: { uid: claim.metadata.uid } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
