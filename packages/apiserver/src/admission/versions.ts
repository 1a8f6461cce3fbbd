import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { decodeAs } from '../registry/builtin-conventions.ts'
import { serveOne } from '../registry/convert.ts'
import type { Attributes } from './attributes.ts'
import type { Equivalent } from './matching/equivalents.ts'

export interface VersionedObjects {
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
}

/** The request's objects in the version of the matched resource. */
export function convertObjects(
  attributes: Attributes,
  matched: Equivalent,
): VersionedObjects | Promise<VersionedObjects> {
  const { object, oldObject } = attributes
  return isForeign(attributes, matched) ? convertBoth(attributes, matched) : { object, oldObject }
}

async function convertBoth(
  { object, oldObject }: Attributes,
  matched: Equivalent,
): Promise<VersionedObjects> {
  return {
    object: object && (await serveOne(matched.endpoint, object)),
    oldObject: oldObject && (await serveOne(matched.endpoint, oldObject)),
  }
}

/** Kinds of subresources are the same whatever the resource. */
function isForeign({ kind, resource, version }: Attributes, { endpoint }: Equivalent): boolean {
  return kind === undefined && (endpoint.resource !== resource || endpoint.version.name !== version.name)
}

/** Replaces the request's object with the one that a webhook returned, in the version that the webhook was shown. */
export async function takeOver(
  attributes: Attributes,
  matched: Equivalent,
  changed: JsonObject,
): Promise<void> {
  const { resource, version, object } = attributes
  const foreign = isForeign(attributes, matched)
  const next = foreign ? await serveOne({ resource, version }, changed) : changed
  if (!object || next === object) return
  for (const key of Object.keys(object)) delete object[key]
  Object.assign(object, next)
}

/**
 * Decodes an object returned by a webhook as the matched kind: unknown fields are dropped, defaults are filled
 * in. Throws a MachineryError, or an Error with a text for the client, when it is of another kind.
 */
export function readChanged(attributes: Attributes, matched: Equivalent, value: unknown): JsonObject {
  if (!isObject(value)) throw new Error('the patched object is not an object')
  const { endpoint, kind } = matched
  return attributes.kind ? decodeAs(kind, value) : endpoint.resource.decodeAdmitted(endpoint, value)
}
