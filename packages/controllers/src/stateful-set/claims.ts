import { StatefulSet } from '@coxswain/api/apps/v1'
import { PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject, DeepReadonly, OwnerReference } from '@coxswain/apimachinery/meta'
import { isAlreadyExists } from '@coxswain/apimachinery/status'
import { controllerReference, type PodView } from '@coxswain/kinds'
import type { ReconcileContext } from '@coxswain/runtime'
import { apiVersionOf } from '../resource-kinds.ts'
import { claimNameOf, isInRange, type StatefulSetView } from './identity.ts'

type ClaimView = DeepReadonly<PersistentVolumeClaim>
type Reference = DeepReadonly<OwnerReference>
type Tools = Pick<ReconcileContext, 'client' | 'events'>

/** A pod, or one that is about to be created. */
export interface Member {
  readonly pod: PodView
  readonly ordinal: number
}

/** Creates the missing claims of a pod. @throws if one cannot be created or is terminating */
export async function createClaims(
  { client, events }: Tools,
  set: StatefulSetView,
  member: Member,
): Promise<void> {
  const { namespace = '', name } = set.metadata
  const failures: string[] = []
  for (const claim of claimsFor(set, member.ordinal)) {
    const claimName = claim.metadata.name
    const found = await client.get(PersistentVolumeClaim, { namespace, name: claimName })
    if (found?.metadata.deletionTimestamp) failures.push(`pvc ${claimName} is being deleted`)
    if (found) continue
    const podName = member.pod.metadata.name
    try {
      await client.create(PersistentVolumeClaim, claim)
      const message = `Create Claim ${claimName} Pod ${podName} in StatefulSet ${name} success`
      events.normal(set, 'SuccessfulCreate', message)
    } catch (error) {
      const { message } = error as Error
      failures.push(`failed to create PVC ${claimName}: ${message}`)
      if (isAlreadyExists(error)) continue
      const description = `Create Claim ${claimName} for Pod ${podName} in StatefulSet ${name} failed error: ${message}`
      events.warning(set, 'FailedCreate', description)
    }
  }
  if (failures.length === 1) throw new Error(failures[0])
  if (failures.length > 1) throw new Error(`[${failures.join(', ')}]`)
}

function claimsFor(set: StatefulSetView, ordinal: number): ClaimView[] {
  return (set.spec?.volumeClaimTemplates ?? []).map(({ metadata, spec }) => {
    const { name = '', ...others } = metadata ?? {}
    const labels = { ...metadata?.labels, ...set.spec?.selector.matchLabels }
    const own = { name: claimNameOf(set, name, ordinal), namespace: set.metadata.namespace, labels }
    return { metadata: { ...others, ...own }, spec } as unknown as ClaimView // the server sets the defaults
  })
}

async function existingClaims(
  { client }: Tools,
  set: StatefulSetView,
  ordinal: number,
): Promise<ClaimView[]> {
  const { namespace = '' } = set.metadata
  const names = (set.spec?.volumeClaimTemplates ?? []).map(({ metadata }) =>
    claimNameOf(set, metadata?.name ?? '', ordinal),
  )
  const found = await Promise.all(names.map(name => client.get(PersistentVolumeClaim, { namespace, name })))
  return found.filter(claim => claim !== undefined)
}

/** Whether a claim of an earlier pod of that name still exists and will be deleted with that pod. */
export async function hasStaleClaims(
  tools: Tools,
  set: StatefulSetView,
  { pod, ordinal }: Member,
): Promise<boolean> {
  if (!policyOf(set).whenScaled) return false
  const claims = await existingClaims(tools, set, ordinal)
  return claims.some(({ metadata }) => hasStaleReference(metadata.ownerReferences ?? [], Pod, pod))
}

/** Whether the owners of a pod's claims match the retention policy. */
export async function areClaimsOwned(tools: Tools, set: StatefulSetView, member: Member): Promise<boolean> {
  const claims = await existingClaims(tools, set, member.ordinal)
  return claims.every(claim =>
    deepEqual(ownersAfter(claim, set, member), claim.metadata.ownerReferences ?? []),
  )
}

/** Sets the owners of a pod's claims to the StatefulSet, the pod or none, according to the retention policy. */
export async function ownClaims(tools: Tools, set: StatefulSetView, member: Member): Promise<void> {
  for (const claim of await existingClaims(tools, set, member.ordinal)) {
    const { name, ownerReferences = [] } = claim.metadata
    if (hasOtherController(ownerReferences, set, member)) {
      const message = `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`
      tools.events.warning(set, 'ConflictingController', message)
    }
    const after = ownersAfter(claim, set, member)
    if (deepEqual(after, ownerReferences)) continue
    const metadata = { ...claim.metadata, ownerReferences: after }
    await tools.client.update(PersistentVolumeClaim, { ...claim, metadata } as ClaimView)
  }
}

function policyOf({ spec }: StatefulSetView) {
  const policy = spec?.persistentVolumeClaimRetentionPolicy
  return { whenScaled: policy?.whenScaled === 'Delete', whenDeleted: policy?.whenDeleted === 'Delete' }
}

/**
 * The owner references that a claim should have. A claim is deleted with its owner: the StatefulSet, or the pod once it is scaled
 * down. References to a StatefulSet or pod of the same name and another uid are left to the garbage collector.
 */
function ownersAfter(claim: ClaimView, set: StatefulSetView, member: Member): readonly Reference[] {
  const { ownerReferences: before = [] } = claim.metadata
  const { pod, ordinal } = member
  if (hasStaleReference(before, StatefulSet, set) || hasStaleReference(before, Pod, pod)) return before
  const isOwn = (reference: Reference) => isTo(reference, StatefulSet, set) || isTo(reference, Pod, pod)
  const others = before.filter(reference => !isOwn(reference))
  if (hasOtherController(before, set, member)) return others
  const { whenScaled, whenDeleted } = policyOf(set)
  const isScaledAway = whenScaled && !isInRange(set, ordinal)
  const desired = isScaledAway
    ? controllerReference(Pod, pod)
    : whenDeleted
      ? controllerReference(StatefulSet, set)
      : undefined
  if (!desired) return others
  const own = before.filter(isOwn)
  const isThere = own.length === 1 && own[0]?.uid === desired.uid && own[0].controller === true
  return isThere ? before : [...others, desired]
}

/** Claims with another controller are left alone, unless the policy is to retain claims anyway. */
function hasOtherController(
  references: readonly Reference[],
  set: StatefulSetView,
  { pod }: Member,
): boolean {
  const { whenScaled, whenDeleted } = policyOf(set)
  if (!whenScaled && !whenDeleted) return false
  return references.some(reference => {
    if (isTo(reference, StatefulSet, set)) return reference.uid !== set.metadata.uid
    if (isTo(reference, Pod, pod)) return reference.uid !== pod.metadata.uid
    return reference.controller === true
  })
}

function isTo(
  { apiVersion, kind: name, name: object }: Reference,
  kind: Kind,
  { metadata }: DeepReadonly<ApiObject>,
) {
  return apiVersion === apiVersionOf(kind) && name === kind.kind && object === metadata.name
}

function hasStaleReference(
  references: readonly Reference[],
  kind: Kind,
  object: DeepReadonly<ApiObject>,
): boolean {
  const reference = references.find(each => isTo(each, kind, object))
  return reference !== undefined && reference.uid !== object.metadata.uid
}
