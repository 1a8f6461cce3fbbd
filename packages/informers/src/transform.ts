import type { ApiObject } from '@coxswain/apimachinery/meta'

/** Makes what is kept out of what was received, which belongs to it: it may change that or return something else. */
export type Transform<T extends ApiObject> = (object: T) => T

/** Drops `metadata.managedFields`, which is often half of an object and which controllers do not read. */
export function stripManagedFields<T extends ApiObject>(object: T): T {
  delete object.metadata.managedFields
  return object
}

/** Keeps type and metadata alone. */
export function keepMetadata<T extends ApiObject>(object: T): T {
  const { apiVersion, kind, metadata } = stripManagedFields(object)
  return { apiVersion, kind, metadata } as T
}
