import { PersistentVolume, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { VolumeAttributesClass } from '@coxswain/api/storage/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { type ApiObject, type DeepReadonly, getControllerOf } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import type { PodView } from '@coxswain/kinds'
import { defineOperator, type MapFunction, type Operator, type OperatorClient } from '@coxswain/runtime'
import {
  type ClaimView,
  claimNamesOf,
  ephemeralClaimName,
  indexPodsByClaim,
  listPodsWith,
  type VolumeView,
} from './volumes.ts'

const claimFinalizer = 'kubernetes.io/pvc-protection'
const volumeFinalizer = 'kubernetes.io/pv-protection'
const classFinalizer = 'kubernetes.io/vac-protection'

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

/** Keeps VolumeAttributesClasses that are being deleted as long as a claim or a volume refers to them. */
export function createVolumeAttributesClassProtectionController(): Operator {
  return defineOperator('volumeattributesclass-protection-controller', operator => {
    operator.index(PersistentVolumeClaim, classField, classesOfClaim)
    operator.index(PersistentVolume, classField, classesOfVolume)
    const asKeys = (names: readonly string[]) => names.map(name => ({ name }))
    operator
      .controller('volumeattributesclass-protection')
      .for(VolumeAttributesClass)
      .watches(PersistentVolumeClaim, claim => asKeys(classesOfClaim(claim)))
      .watches(PersistentVolume, volume => asKeys(classesOfVolume(volume)))
      .reconcile(async ({ client, key }) => {
        const found = await client.get(VolumeAttributesClass, key)
        if (!found) return
        const fields = { [classField]: key.name }
        const isNamed = async () =>
          (await client.list(PersistentVolumeClaim, { fields })).items.length > 0 ||
          (await client.list(PersistentVolume, { fields })).items.length > 0
        await protect(client, VolumeAttributesClass, found, classFinalizer, isNamed)
      })
  })
}

const classField = 'volumeAttributesClass'

const classesOfClaim = ({ spec, status }: ClaimView): string[] => {
  const { volumeAttributesClassName: wanted } = spec ?? {}
  const { currentVolumeAttributesClassName: current, modifyVolumeStatus: change } = status ?? {}
  const names = [wanted, current, change?.targetVolumeAttributesClassName]
  return [...new Set(names.filter(name => name !== undefined && name !== ''))] as string[]
}

const classesOfVolume = ({ spec }: VolumeView): string[] =>
  spec?.volumeAttributesClassName ? [spec.volumeAttributesClassName] : []

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
  const isTerminating = deletionTimestamp !== undefined
  // A live object gets the finalizer, a terminating one loses it.
  if (isTerminating !== hasFinalizer) return
  if (isTerminating && (await isInUse())) return
  const after = hasFinalizer ? finalizers.filter(each => each !== finalizer) : [...finalizers, finalizer]
  const metadata = { finalizers: after, resourceVersion: object.metadata.resourceVersion }
  try {
    await client.patch(kind, namespace ? { namespace, name } : { name }, { metadata }, { type: 'merge' })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Also reads from the server: the cache may not contain a pod that was scheduled a moment ago. */
async function isUsed(client: OperatorClient, claim: ClaimView): Promise<boolean> {
  if ((await listPodsWith(client, claim)).some(pod => holds(pod, claim))) return true
  const { namespace = '' } = claim.metadata
  const { items } = await client.list(Pod, { namespace, cached: false })
  return items.some(pod => holds(pod, claim))
}

/** A pod that is not scheduled yet will not start with a terminating claim. */
function holds(pod: PodView, claim: ClaimView): boolean {
  if (!pod.spec.nodeName) return false
  const isShutDown =
    pod.metadata.deletionTimestamp !== undefined && pod.metadata.deletionGracePeriodSeconds === 0
  return (pod.spec.volumes ?? []).some(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim?.claimName === claim.metadata.name) return true
    if (!ephemeral || isShutDown || ephemeralClaimName(pod, name) !== claim.metadata.name) return false
    return getControllerOf(claim)?.uid === pod.metadata.uid
  })
}
