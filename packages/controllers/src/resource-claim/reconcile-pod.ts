import { Pod } from '@coxswain/api/core/v1'
import { ResourceClaim, ResourceClaimTemplate } from '@coxswain/api/resource/v1'
import { type DeepReadonly, formatKey, getControllerOf } from '@coxswain/apimachinery/meta'
import { isPodTerminal, type PodView } from '@coxswain/kinds'
import type { ReconcileContext } from '@coxswain/runtime'

export type ClaimView = DeepReadonly<ResourceClaim>
type PodClaim = NonNullable<PodView['spec']['resourceClaims']>[number]

const claimAnnotation = 'resource.kubernetes.io/pod-claim-name'
const fieldManager = 'ResourceClaimController'
const mostConsumers = 256
/** The length that a generated name leaves for its prefix. */
const longestBase = 57

/** The known names of the claims that a pod uses. */
export function claimsOf(pod: PodView): string[] {
  const { spec, status } = pod
  const extended = status?.extendedResourceClaimStatus?.resourceClaimName
  const named = (spec.resourceClaims ?? []).flatMap(claim => claimNameOf(pod, claim) ?? [])
  return extended ? [...named, extended] : named
}

/** Undefined if it has to be created, null if none is needed. */
function claimNameOf({ status }: PodView, claim: PodClaim): string | null | undefined {
  if (claim.resourceClaimName) return claim.resourceClaimName
  const known = status?.resourceClaimStatuses?.find(({ name }) => name === claim.name)
  return known && (known.resourceClaimName ?? null)
}

/** Finished, or terminating without ever having been scheduled: it needs no claims. */
export function isDone(pod: PodView): boolean {
  return isPodTerminal(pod) || (pod.metadata.deletionTimestamp !== undefined && !pod.spec.nodeName)
}

/** Creates the claims that a pod has templates for, and reserves those of a pod that was bound without the scheduler. */
export async function reconcilePod(context: ReconcileContext): Promise<void> {
  const { client, key, events } = context
  const pod = await client.get(Pod, key)
  if (!pod?.spec.resourceClaims?.length || pod.metadata.deletionTimestamp || isDone(pod)) return
  const made: { readonly name: string; readonly resourceClaimName: string }[] = []
  for (const claim of pod.spec.resourceClaims) {
    try {
      const resourceClaimName = await makeClaim(context, pod, claim)
      if (resourceClaimName !== undefined) made.push({ name: claim.name, resourceClaimName })
    } catch (error) {
      const { message } = error as Error
      events.warning(pod, 'FailedResourceClaimCreation', `PodResourceClaim ${claim.name}: ${message}`)
      throw new Error(`pod ${formatKey(key)}, PodResourceClaim ${claim.name}: ${message}`)
    }
  }
  let current: PodView = pod
  if (made.length > 0) {
    const names = new Set(made.map(({ name }) => name))
    const others = (pod.status?.resourceClaimStatuses ?? []).filter(({ name }) => !names.has(name))
    const { namespace = '', name, uid } = pod.metadata
    current = await client.applyStatus(
      Pod,
      { metadata: { namespace, name, uid }, status: { resourceClaimStatuses: [...others, ...made] } },
      { fieldManager, force: true },
    )
  }
  if (!current.spec.nodeName) return // the scheduler reserves
  for (const claim of current.spec.resourceClaims ?? []) await reserve(context, current, claim)
}

/** Resolves with the name of a claim that the pod's status does not have yet. */
async function makeClaim(
  { client }: ReconcileContext,
  pod: PodView,
  podClaim: PodClaim,
): Promise<string | undefined> {
  const { namespace = '', name: podName, uid } = pod.metadata
  const known = claimNameOf(pod, podClaim)
  if (known === null) return
  if (known !== undefined) {
    const claim = await client.get(ResourceClaim, { namespace, name: known })
    const isOwn = podClaim.resourceClaimName !== undefined || getControllerOf(claim ?? pod)?.uid === uid
    if (claim && isOwn) return
  }
  const { resourceClaimTemplateName } = podClaim
  if (!resourceClaimTemplateName) return
  // One that was created before the pod's status was updated.
  const { items } = await client.list(ResourceClaim, { namespace })
  const orphan = items.find(
    claim =>
      getControllerOf(claim)?.uid === uid &&
      claim.metadata.annotations?.[claimAnnotation] === podClaim.name &&
      !claim.metadata.deletionTimestamp,
  )
  if (orphan) return orphan.metadata.name
  const template = await client.get(ResourceClaimTemplate, { namespace, name: resourceClaimTemplateName })
  if (!template) {
    const name = `resourceclaimtemplate.resource.k8s.io "${resourceClaimTemplateName}"`
    throw new Error(`resource claim template "${resourceClaimTemplateName}": ${name} not found`)
  }
  const { labels, annotations } = template.spec.metadata ?? {}
  const created = await client.create(ResourceClaim, {
    metadata: {
      generateName: baseName(podName, podClaim.name),
      namespace,
      ...(labels && { labels }),
      annotations: { ...annotations, [claimAnnotation]: podClaim.name },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: podName, uid, controller: true }],
    },
    spec: template.spec.spec,
  })
  return created.metadata.name
}

/** Both names are shortened in proportion if they are too long together. */
function baseName(pod: string, claim: string): string {
  const whole = `${pod}-${claim}-`
  if (whole.length <= longestBase) return whole
  const share = (text: string) => text.slice(0, Math.floor((text.length * longestBase) / whole.length))
  return `${share(pod)}-${share(claim)}`
}

async function reserve({ client }: ReconcileContext, pod: PodView, podClaim: PodClaim): Promise<void> {
  const { namespace = '', name, uid } = pod.metadata
  const claimName = claimNameOf(pod, podClaim)
  const claim = claimName ? await client.get(ResourceClaim, { namespace, name: claimName }) : undefined
  if (!claim?.status?.allocation) return
  const { reservedFor = [] } = claim.status
  if (reservedFor.some(consumer => consumer.uid === uid) || reservedFor.length >= mostConsumers) return
  const consumers = [...reservedFor, { resource: 'pods', name, uid }]
  await client.updateStatus(ResourceClaim, { ...claim, status: { ...claim.status, reservedFor: consumers } })
}
