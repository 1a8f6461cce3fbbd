import type { JsonObject } from '@coxswain/apimachinery/json'
import { parseQuantity, type Quantity } from '@coxswain/apimachinery/quantity'
import { newForbidden } from '@coxswain/apimachinery/status'
import type { AdmissionPlugin } from './admission.ts'
import { classOfClaim, findStorageClass, isClaimWrite } from './storage-classes.ts'

/** Only bound claims may grow, and only when their storage class allows it. */
export const persistentVolumeClaimResize: AdmissionPlugin = {
  name: 'PersistentVolumeClaimResize',
  needs: 'persistentvolumeclaims',
  validate(attributes) {
    const { object, oldObject, server, resource, name } = attributes
    if (!isClaimWrite(attributes, 'UPDATE') || !object || !oldObject) return
    if (requestedStorage(object).compare(requestedStorage(oldObject)) <= 0) return
    if ((oldObject.status as JsonObject | undefined)?.phase !== 'Bound')
      throw newForbidden(resource.info, name, 'Only bound persistent volume claims can be expanded')
    const wanted = classOfClaim(object)
    const isKnown = Boolean(wanted) && wanted === classOfClaim(oldObject)
    if (isKnown && findStorageClass(server, wanted!)?.allowVolumeExpansion) return
    throw newForbidden(
      resource.info,
      name,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
  },
}

function requestedStorage({ spec }: JsonObject): Quantity {
  const { resources } = (spec ?? {}) as { resources?: { requests?: { storage?: string } } }
  return parseQuantity(resources?.requests?.storage ?? '0')
}
