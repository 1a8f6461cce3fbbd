import { Pod } from '@coxswain/api/core/v1'
import { ResourceClaim, ResourceClaimTemplate } from '@coxswain/api/resource/v1'
import { getControllerOf } from '@coxswain/apimachinery/meta'
import { defineOperator, type MapFunction, type Operator } from '@coxswain/runtime'
import { reconcileClaim } from './reconcile-claim.ts'
import { type ClaimView, claimsOf, reconcilePod } from './reconcile-pod.ts'

/** Creates the ResourceClaims that pods have templates for, and removes reservations of pods that no longer use them. */
export function createResourceClaimController(): Operator {
  return defineOperator('resourceclaim-controller', operator => {
    operator
      .controller('resourceclaim-pods')
      .for(Pod)
      .watches(ResourceClaim, podsOfClaim)
      .watches(ResourceClaimTemplate, podsOfTemplate)
      .options({ eventSource: 'resource_claim', concurrency: 5 })
      .reconcile(reconcilePod)
    operator
      .controller('resourceclaim')
      .for(ResourceClaim)
      .watches(Pod, pod => {
        const { namespace = '' } = pod.metadata
        return claimsOf(pod).map(name => ({ namespace, name }))
      })
      .options({ concurrency: 5 })
      .reconcile(reconcileClaim)
  })
}

/** The pods that refer to it, and the one it was generated for. */
const podsOfClaim: MapFunction<ResourceClaim> = (claim: ClaimView, lookup) => {
  const { namespace = '', name } = claim.metadata
  const owner = getControllerOf(claim)
  const pods = lookup
    .list(Pod, { namespace })
    .filter(pod => pod.spec.resourceClaims?.length && claimsOf(pod).includes(name))
    .map(({ metadata }) => ({ namespace, name: metadata.name }))
  return owner?.kind === 'Pod' ? [...pods, { namespace, name: owner.name }] : pods
}

const podsOfTemplate: MapFunction<ResourceClaimTemplate> = ({ metadata }, lookup) => {
  const { namespace = '', name } = metadata
  return lookup
    .list(Pod, { namespace })
    .filter(({ spec }) => spec.resourceClaims?.some(claim => claim.resourceClaimTemplateName === name))
    .map(pod => ({ namespace, name: pod.metadata.name }))
}
