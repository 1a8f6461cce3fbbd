import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import {
  newBadRequest,
  newConflict,
  newInvalid,
  optimisticLockMessage,
  type StatusError,
} from '@coxswain/apimachinery/status'
import type { Endpoint, ServedResource } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { metadataOf } from './metadata.ts'
import type { Write } from './write.ts'

/** The body must name the object of the path. Throws a 400. */
export function checkName({ context, object }: Pick<Write, 'context' | 'object'>): void {
  requireName(context, metadataOf(object).name)
}

/** Throws a 400 when a body names no object, or another one than the path. */
export function requireName({ info }: ResourceContext, name: string | undefined): void {
  if (!name) {
    throw newBadRequest(
      `the name of the object (${info.name} based on URL) was undeterminable: name must be provided`,
    )
  }
  if (name === info.name) return
  throw newBadRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`)
}

/** The 409 for a stale resourceVersion, with the message that clients know. */
export function checkVersion({ endpoint, expected, old }: Write): void {
  const { resourceVersion, name = '' } = metadataOf(old!)
  if (expected.resourceVersion && expected.resourceVersion !== resourceVersion)
    throw newConflict(endpoint.resource.info, name, optimisticLockMessage)
}

/** Throws a 409 when the client means another object of the same name. */
export function checkUid({ endpoint, expected, old }: Write): void {
  const { uid = '' } = metadataOf(old!)
  if (!expected.uid || expected.uid === uid) return
  const detail = `Precondition failed: UID in precondition: ${expected.uid}, UID in object meta: ${uid}`
  throw storageConflict(endpoint, old!, detail)
}

/** A 409 with the message of upstream's store. */
export function storageConflict({ resource }: Endpoint, current: JsonObject, detail: string): StatusError {
  const { name = '', namespace } = metadataOf(current)
  const key = ['/registry', resource.storageFolder, ...(namespace ? [namespace] : []), name].join('/')
  return newConflict(
    resource.info,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`,
  )
}

/** Throws a 422 when a kind that requires a resourceVersion for updates gets none. */
export function requireVersion({ resource }: Endpoint, version: string | undefined, name: string): void {
  if (version || resource.strategy.unconditionalUpdate !== false) return
  throw newInvalid({ group: resource.info.group, kind: resource.info.resource }, name, [
    field.invalid(field.Path.of('metadata', 'resourceVersion'), 0, 'must be specified for an update'),
  ])
}

/** Throws a 409 when the client's uid or resourceVersion is not the object's. */
export function checkPreconditions(
  resource: ServedResource,
  current: JsonObject,
  wanted: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
): void {
  const { group, kind } = resource.info
  const { name = '', uid, resourceVersion } = metadataOf(current)
  const conflict = (detail: string) => newConflict({ group, resource: kind }, name, detail)
  if (wanted.uid && wanted.uid !== uid) {
    throw conflict(
      `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    )
  }
  if (wanted.resourceVersion && wanted.resourceVersion !== resourceVersion) {
    throw conflict(
      `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    )
  }
}
