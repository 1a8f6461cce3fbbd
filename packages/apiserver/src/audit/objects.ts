import { builtinProtobuf } from '@coxswain/api'
import { isObject, readJson } from '@coxswain/apimachinery/json'
import { protobufMediaType } from '@coxswain/apimachinery/protobuf'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { concatBytes } from '@coxswain/kit'
import { getHeader, parseMediaType, type WireResponse } from '@coxswain/wire'
import type { RequestContext } from '../request/context.ts'

/** The request object, if it can be parsed. */
export function readRequestObject({ request }: RequestContext): unknown {
  if (!request.body || request.body.length === 0) return undefined
  return readObject(request.body, getHeader(request.headers, 'content-type') ?? '')
}

/** The response object, if the response is complete. */
export function readResponseObject({ body, headers }: WireResponse): unknown {
  if (body === undefined || Symbol.asyncIterator in body) return undefined
  const bytes = body instanceof Uint8Array ? body : concatBytes(body)
  return readObject(bytes, getHeader(headers, 'content-type') ?? '')
}

function readObject(bytes: Uint8Array, contentType: string): unknown {
  try {
    const { type } = parseMediaType(contentType || 'application/json')
    if (type === protobufMediaType) return builtinProtobuf.decode(bytes)
    if (type.endsWith('yaml')) return readYaml(bytes)?.value
    return readJson(bytes).value
  } catch {
    return undefined // an unparsable body was rejected, which the response records
  }
}

/** A copy without managedFields, those of list items included. */
export function withoutManagedFields(object: unknown): unknown {
  if (!isObject(object)) return object
  const copy = { ...object }
  if (isObject(copy.metadata)) {
    const { managedFields: _, ...metadata } = copy.metadata
    copy.metadata = metadata
  }
  if (Array.isArray(copy.items)) copy.items = copy.items.map(withoutManagedFields)
  return copy
}
