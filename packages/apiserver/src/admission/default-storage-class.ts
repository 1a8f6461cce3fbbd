import { childObject } from '@coxswain/apimachinery/json'
import type { AdmissionPlugin } from './admission.ts'
import { classOfClaim, defaultStorageClassOf, isClaimWrite } from './storage-classes.ts'

/** Gives a claim without a storage class the cluster's default one, if there is one. */
export const defaultStorageClass: AdmissionPlugin = {
  name: 'DefaultStorageClass',
  needs: 'persistentvolumeclaims',
  mutate(attributes) {
    const { object, server } = attributes
    if (!isClaimWrite(attributes, 'CREATE') || !object || classOfClaim(object) !== undefined) return
    const found = defaultStorageClassOf(server)
    if (found) childObject(object, 'spec').storageClassName = found.metadata.name
  },
}
