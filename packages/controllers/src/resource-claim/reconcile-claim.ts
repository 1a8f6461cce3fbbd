import { Pod } from '@coxswain/api/core/v1'
import { ResourceClaim } from '@coxswain/api/resource/v1'
import { getControllerOf } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import type { ReconcileContext } from '@coxswain/runtime'
import { type ClaimView, isDone } from './reconcile-pod.ts'

const finalizer = 'resource.kubernetes.io/delete-protection'

/** Takes back what pods that are gone or done had reserved; with the last of them goes the allocation. */
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
  const isGoing = claim.metadata.deletionTimestamp !== undefined
  if (remaining.length < reservedFor.length)
    current = await writeStatus(context, claim, remaining, isIdle && isProtected)
  else if (isIdle && isGoing && isProtected && claim.status?.allocation)
    current = await writeStatus(context, claim, remaining, true)
  const lostAllocation = !current.status?.allocation && (remaining.length < reservedFor.length || isGoing)
  // One that has it while nothing is allocated yet may be on its way to an allocation.
  if (isIdle && isProtected && lostAllocation) {
    const finalizers = current.metadata.finalizers?.filter(name => name !== finalizer)
    current = await client.update(ResourceClaim, {
      ...current,
      metadata: { ...current.metadata, finalizers },
    } as ClaimView)
  }
  if (isIdle && !isGoing) await deleteUnneeded(context, current)
}

async function writeStatus(
  { client }: ReconcileContext,
  claim: ClaimView,
  reservedFor: NonNullable<NonNullable<ClaimView['status']>['reservedFor']>,
  deallocates: boolean,
): Promise<ClaimView> {
  const { allocation, reservedFor: _, ...others } = claim.status ?? {}
  const status = {
    ...others,
    ...(allocation && !deallocates && { allocation }),
    ...(reservedFor.length > 0 && { reservedFor }),
  }
  return await client.updateStatus(ResourceClaim, { ...claim, status })
}

/** A pod that is not known is asked for: the scheduler may be faster than the cache. */
async function stillRuns({ client, key }: ReconcileContext, name: string, uid: string): Promise<boolean> {
  const { namespace = '' } = key
  const pod =
    (await client.get(Pod, { namespace, name })) ??
    (await client.get(Pod, { namespace, name }, { cached: false }))
  return pod?.metadata.uid === uid && !isDone(pod)
}

/** A claim that was made for a pod that will not run any more goes before the pod does. */
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
