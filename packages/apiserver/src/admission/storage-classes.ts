import type { JsonObject } from '@coxswain/apimachinery/json'
import { isDefaultStorageClass, type StorageClass } from '@coxswain/strategies'
import type { Attributes } from './attributes.ts'
import type { AdmissionPorts } from './ports.ts'

const prefix = '/storage.k8s.io/storageclasses/'
const betaAnnotation = 'volume.beta.kubernetes.io/storage-class'

export function findStorageClass(server: AdmissionPorts, name: string): StorageClass | undefined {
  return server.cache
    .resource(prefix)
    .get(prefix + name)
    ?.parse() as StorageClass | undefined
}

/** Of several classes that are marked the newest, and of those the first by name. */
export function findDefaultStorageClass(server: AdmissionPorts): StorageClass | undefined {
  const classes = server.cache
    .resource(prefix)
    .list()
    .map(stored => stored.parse() as unknown as StorageClass)
    .filter(isDefaultStorageClass)
  const time = ({ metadata }: StorageClass) => Date.parse(metadata.creationTimestamp ?? '')
  return classes.sort((a, b) => time(b) - time(a) || (a.metadata.name < b.metadata.name ? -1 : 1))[0]
}

/** The class that a claim asks for; undefined when it leaves the choice to the cluster. */
export function classOfClaim(claim: JsonObject): string | undefined {
  const { annotations } = claim.metadata as { annotations?: Record<string, string> }
  const spec = (claim.spec ?? {}) as { storageClassName?: string }
  return annotations?.[betaAnnotation] ?? spec.storageClassName
}

/** Whether a claim itself is about to be written, by this operation. */
export function isClaimWrite(attributes: Attributes, operation: Attributes['operation']): boolean {
  const { info } = attributes.resource
  return (
    info.group === '' &&
    info.resource === 'persistentvolumeclaims' &&
    attributes.subresource === '' &&
    attributes.operation === operation
  )
}
