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
