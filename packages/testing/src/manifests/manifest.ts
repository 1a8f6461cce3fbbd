import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'

/** A path, YAML text (with line breaks), an object, or several of these. */
export type Manifests = string | URL | DeepReadonly<ApiObject> | readonly Manifests[]

/** An object of a manifest, and where it stands: for errors. */
export interface Manifest {
  readonly object: ApiObject
  readonly place: string
}
