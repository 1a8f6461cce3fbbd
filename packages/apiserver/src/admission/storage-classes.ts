import type { PersistentVolumeClaim } from '@coxswain/api/core/v1'
import type { StorageClass } from '@coxswain/api/storage/v1'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { findDefaultStorageClass, storageClassNameOf } from '@coxswain/kinds'
import type { Attributes } from './attributes.ts'
import type { AdmissionPorts } from './ports.ts'

const prefix = '/storage.k8s.io/storageclasses/'

export function findStorageClass(server: AdmissionPorts, name: string): StorageClass | undefined {
  return server.cache
    .resource(prefix)
    .get(prefix + name)
    ?.parse() as StorageClass | undefined
}

/** The default StorageClass of the cluster. */
export function defaultStorageClassOf(server: AdmissionPorts): StorageClass | undefined {
  const classes = server.cache.resource(prefix).list()
  return findDefaultStorageClass(classes.map(stored => stored.parse() as unknown as StorageClass))
}

/** The class that a claim names; undefined when the default applies. */
export function classOfClaim(claim: JsonObject): string | undefined {
  return storageClassNameOf(claim as unknown as PersistentVolumeClaim)
}

/** Whether the request writes a claim itself (not a subresource) with this operation. */
export function isClaimWrite(attributes: Attributes, operation: Attributes['operation']): boolean {
  const { info } = attributes.resource
  return (
    info.group === '' &&
    info.resource === 'persistentvolumeclaims' &&
    attributes.subresource === '' &&
    attributes.operation === operation
  )
}
