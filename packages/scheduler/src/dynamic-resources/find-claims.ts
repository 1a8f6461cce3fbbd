import { isControlledBy } from '@coxswain/apimachinery/meta'
import type { PodView } from '@coxswain/kinds'
import type { ClaimTracker } from './claim-tracker.ts'
import type { ClaimView } from './device-id.ts'

type PodClaim = NonNullable<PodView['spec']['resourceClaims']>[number]

/** The existing claims of a pod, or why one is missing; a pod may need none after all. */
export function findPodClaims(pod: PodView, tracker: ClaimTracker): readonly ClaimView[] | string {
  const { namespace = '', name: podName } = pod.metadata
  const claims: ClaimView[] = []
  for (const podClaim of pod.spec.resourceClaims ?? []) {
    const found = claimNameOf(pod, podClaim)
    if ('problem' in found) return `pod "${namespace}/${podName}"${found.problem}`
    const { name, isGenerated } = found
    if (name === undefined) continue
    const claim = tracker.get({ namespace, name })
    if (!claim) return `could not find ResourceClaim "${namespace}/${name}"`
    if (claim.metadata.deletionTimestamp) return `resourceclaim ${JSON.stringify(name)} is being deleted`
    if (isGenerated && !isControlledBy(claim, pod))
      return `ResourceClaim ${namespace}/${name} was not created for Pod ${namespace}/${podName} (Pod is not owner)`
    claims.push(claim)
  }
  return claims
}

/** Whether a pod refers to that claim. */
export function usesClaim(pod: PodView, { metadata }: ClaimView): boolean {
  return (
    metadata.namespace === pod.metadata.namespace &&
    (pod.spec.resourceClaims ?? []).some(podClaim => {
      const found = claimNameOf(pod, podClaim)
      return 'name' in found && found.name === metadata.name
    })
  )
}

type ClaimName =
  | { readonly problem: string }
  /** Without a name if no claim is needed. */
  | { readonly name: string | undefined; readonly isGenerated: boolean }

function claimNameOf(
  { status }: PodView,
  { name: entry, resourceClaimName, resourceClaimTemplateName }: PodClaim,
): ClaimName {
  if (resourceClaimName !== undefined) return { name: resourceClaimName, isGenerated: false }
  if (resourceClaimTemplateName === undefined)
    return { problem: `, spec.resourceClaim ${JSON.stringify(entry)}: none of the supported fields are set` }
  const known = status?.resourceClaimStatuses?.find(({ name }) => name === entry)
  if (!known) return { problem: ': ResourceClaim not created yet' }
  return { name: known.resourceClaimName, isGenerated: true }
}
