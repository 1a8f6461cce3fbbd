/** Types every API object shares, as they are on the wire: times are strings. */
export interface TypeMeta {
  readonly apiVersion?: string
  readonly kind?: string
}

/** `metav1.OwnerReference`. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** `metav1.ManagedFieldsEntry`. */
export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: 'FieldsV1'
  fieldsV1?: Record<string, unknown>
  subresource?: string
}

/** `metav1.ObjectMeta`. */
export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

/** `metav1.ListMeta`. */
export interface ListMeta {
  selfLink?: string
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number
}

/** An object as a server returns it: with the metadata that every stored object has. */
export interface ApiObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta & { name: string; uid: string; resourceVersion: string; creationTimestamp: string }
}

/** A list of objects, as a server returns it. */
export interface ApiList<T> {
  apiVersion: string
  kind: string
  metadata: ListMeta
  items: T[]
}

/** `metav1.Condition`. */
export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  observedGeneration?: number
  lastTransitionTime: string
  reason: string
  message: string
}

/** The namespace, if any, and name of an object. */
export interface ObjectKey {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string
  readonly name: string
}

/** What a store or lister returns. */
export type DeepReadonly<T> = T extends (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T
