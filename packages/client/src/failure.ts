import type { Status } from '@coxswain/apimachinery/status'
import { isStatus, newGenericServerResponse, StatusError } from '@coxswain/apimachinery/wire-format'
import { decodeText } from '@coxswain/kit'
import { getHeader, readBody, type WireResponse } from '@coxswain/wire'
import { decodeJson } from './json.ts'
import type { RestRequest } from './rest-request.ts'

/** How much of a failed answer is read. */
const maxFailureBytes = 1024 * 1024

/** How much of a body that is not a Status goes into the error. */
const maxExcerpt = 2048

/** The error of an answer other than 2xx: its Status, or one derived from its code as in client-go. */
export async function readFailure(response: WireResponse, request: RestRequest): Promise<StatusError> {
  let body: Uint8Array
  try {
    body = await readBody(response.body, maxFailureBytes)
  } catch {
    body = new Uint8Array(0) // the code alone says enough
  }
  const status = tryStatus(body, response.status)
  if (status) return new StatusError(status)
  const retryAfter = Number(getHeader(response.headers, 'retry-after'))
  return newGenericServerResponse({
    code: response.status,
    verb: request.method ?? 'GET',
    ...(request.resource && { resource: request.resource }),
    ...(request.name !== undefined && { name: request.name }),
    serverMessage: decodeText(body.subarray(0, maxExcerpt)).trim() || 'unknown',
    ...(Number.isInteger(retryAfter) && { retryAfterSeconds: retryAfter }),
    unexpected: true,
  })
}

function tryStatus(body: Uint8Array, code: number): Status | undefined {
  if (body.length === 0) return undefined
  try {
    const value = decodeJson(body)
    if (!isStatus(value) || value.status === 'Success') return undefined
    return value.code ? value : { ...value, code }
  } catch {
    return undefined
  }
}
