import { PersistentVolume, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { type ApiObject, type DeepReadonly, isNotFound, type Kind } from '@coxswain/apimachinery'
import { defineOperator, type MapFunction, type Operator, type OperatorClient } from '@coxswain/runtime'
import { controllerOf } from '../pods/controller-reference.ts'
import type { PodView } from '../pods/pod-state.ts'
import {
  type ClaimView,
  claimNamesOf,
  ephemeralClaimName,
  indexPodsByClaim,
  listPodsWith,
} from './volumes.ts'

const claimFinalizer = 'kubernetes.io/pvc-protection'
const volumeFinalizer = 'kubernetes.io/pv-protection'

/** Keeps claims that are being deleted as long as a pod uses them. */
export function createPersistentVolumeClaimProtectionController(): Operator {
  return defineOperator('persistentvolumeclaim-protection-controller', operator => {
    indexPodsByClaim(operator)
    operator
      .controller('persistentvolumeclaim-protection')
      .for(PersistentVolumeClaim)
      .watches(Pod, claimsOfPod)
      .reconcile(async ({ client, key }) => {
        const claim = await client.get(PersistentVolumeClaim, key)
        if (!claim) return
        await protect(client, PersistentVolumeClaim, claim, claimFinalizer, () => isUsed(client, claim))
      })
  })
}

/** Keeps volumes that are being deleted as long as they are bound. */
export function createPersistentVolumeProtectionController(): Operator {
  return defineOperator('persistentvolume-protection-controller', operator => {
    operator
      .controller('persistentvolume-protection')
      .for(PersistentVolume)
      .reconcile(async ({ client, key }) => {
        const volume = await client.get(PersistentVolume, key)
        if (!volume) return
        const isBound = async () => volume.status?.phase === 'Bound'
        await protect(client, PersistentVolume, volume, volumeFinalizer, isBound)
      })
  })
}

const claimsOfPod: MapFunction<Pod> = pod => {
  const { namespace = '' } = pod.metadata
  return claimNamesOf(pod).map(name => ({ namespace, name }))
}

async function protect(
  client: OperatorClient,
  kind: Kind,
  object: DeepReadonly<ApiObject>,
  finalizer: string,
  isInUse: () => Promise<boolean>,
): Promise<void> {
  const { namespace, name, finalizers = [], deletionTimestamp } = object.metadata
  const hasFinalizer = finalizers.includes(finalizer)
  const isGoing = deletionTimestamp !== undefined
  // One that stays has it, one that goes loses it.
  if (isGoing !== hasFinalizer) return
  if (isGoing && (await isInUse())) return
  const after = hasFinalizer ? finalizers.filter(each => each !== finalizer) : [...finalizers, finalizer]
  const metadata = { finalizers: after, resourceVersion: object.metadata.resourceVersion }
  try {
    await client.patch(kind, namespace ? { namespace, name } : { name }, { metadata }, { type: 'merge' })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** The server is asked as well: a pod that was scheduled a moment ago may not be known here. */
async function isUsed(client: OperatorClient, claim: ClaimView): Promise<boolean> {
  if ((await listPodsWith(client, claim)).some(pod => holds(pod, claim))) return true
  const { namespace = '' } = claim.metadata
  const { items } = await client.list(Pod, { namespace, cached: false })
  return items.some(pod => holds(pod, claim))
}

/** A pod that no node has yet will not start with a claim that goes. */
function holds(pod: PodView, claim: ClaimView): boolean {
  if (!pod.spec.nodeName) return false
  const isShutDown =
    pod.metadata.deletionTimestamp !== undefined && pod.metadata.deletionGracePeriodSeconds === 0
  return (pod.spec.volumes ?? []).some(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim?.claimName === claim.metadata.name) return true
    if (!ephemeral || isShutDown || ephemeralClaimName(pod, name) !== claim.metadata.name) return false
    return controllerOf(claim)?.uid === pod.metadata.uid
  })
}
