import type { ApiObject, DeepReadonly, ObjectMeta } from '@coxswain/apimachinery/meta'

/** A path, YAML text (with line breaks), an object, or several of these. */
export type Manifests = string | URL | DeepReadonly<ManifestObject> | readonly Manifests[]

/** An object as it may be sent: a server has not added its metadata yet. */
interface ManifestObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

/** An object of a manifest, and where it stands: for errors. */
export interface Manifest {
  readonly object: ApiObject
  readonly place: string
}

/** Says that kustomizations cannot be applied, and what to do instead. */
export function newKustomizationError(place: string): Error {
  return new Error(
    `${place}: kustomizations are not supported yet; apply the output of "kubectl kustomize", or the files that it names`,
  )
}
