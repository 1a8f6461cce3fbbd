import {
  isMachineryError,
  type Literals,
  newBadRequest,
  newRequestEntityTooLarge,
  newUnsupportedMediaType,
  readJson,
} from '@coxswain/apimachinery'
import { getHeader, parseMediaType } from '@coxswain/wire'
import { isObject, type JsonObject } from '../json.ts'
import type { RequestContext } from '../request/context.ts'

/** A request body as JSON, with what a strict reader has to say about it. */
export interface DecodedBody {
  readonly object: JsonObject
  /** Paths of members that stand there twice. */
  readonly duplicates: readonly string[]
  readonly literals?: Literals | undefined
}

const accepted = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

/** Reads the body by its content type. Throws a 400, 413 or 415. */
export function readBody(context: RequestContext): DecodedBody {
  const { headers, body } = context.request
  const type = parseMediaType(getHeader(headers, 'content-type') || 'application/json').type
  if (type !== 'application/json') throw newUnsupportedMediaType(accepted)
  return readJsonBody(body ?? new Uint8Array())
}

/** Throws a 400 or 413 in upstream's words. */
export function readJsonBody(bytes: Uint8Array): DecodedBody {
  try {
    const { value, duplicates, literals } = readJson(bytes)
    if (!isObject(value)) throw newBadRequest('the body of the request is not a JSON object')
    return { object: value, duplicates, literals }
  } catch (error) {
    if (isMachineryError(error, 'JsonTooLarge')) throw newRequestEntityTooLarge(error.message)
    if (isMachineryError(error))
      throw newBadRequest(`couldn't get version/kind; json parse error: ${error.message}`)
    throw error
  }
}
