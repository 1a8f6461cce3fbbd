import type { ApiObject } from '@coxswain/apimachinery/meta'

/** Converts a received object to what is stored. It owns the object: it may change it or return another one. */
export type Transform<T extends ApiObject> = (object: T) => T

/** Removes `metadata.managedFields`, which is often half of an object and which controllers do not read. */
export function stripManagedFields<T extends ApiObject>(object: T): T {
  delete object.metadata.managedFields
  return object
}

/** Keeps only type and metadata. */
export function keepMetadata<T extends ApiObject>(object: T): T {
  const { apiVersion, kind, metadata } = stripManagedFields(object)
  return { apiVersion, kind, metadata } as T
}
