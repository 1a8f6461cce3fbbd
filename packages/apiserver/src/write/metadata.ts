import type { JsonObject } from '@coxswain/apimachinery/json'

export type Metadata = JsonObject & {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: JsonObject[]
}

export function metadataOf(object: JsonObject): Metadata {
  return object.metadata as Metadata
}
