import { isMachineryError } from '@coxswain/apimachinery/errors'
import { newBadRequest, type StatusError } from '@coxswain/apimachinery/status'
import { decodeText, encodeHex } from '@coxswain/kit'

/** Converts an error of a decoder: a 400 when the body is the cause. */
export function undecodable(kind: string, version: string, error: unknown): unknown {
  // Stack overflow: decoding is recursive.
  if (error instanceof RangeError || isMachineryError(error, 'TooDeep'))
    return badBody(kind, version, 'it is nested too deeply')
  if (!isMachineryError(error, 'BadJson')) return error
  return badBody(kind, version, error.message)
}

/** A 400 for a body that cannot be decoded as the kind. */
export function badBody(kind: string, version: string, problem: string): StatusError {
  return newBadRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${problem}`,
  )
}

/** The message of upstream's decoder for a kind that is not registered. */
export function unregisteredKind(apiVersion: string, kind: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`
}

/** A 400 for a body without a kind. */
export function unrecognized(bytes: Uint8Array, kind: string, problem: string): StatusError {
  const what = `the object provided is unrecognized (must be of type ${kind})`
  return newBadRequest(`${what}: ${problem} (${summarize(bytes)})`)
}

const summaryLength = 30

/** JSON objects as text, everything else in hexadecimal. */
function summarize(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>'
  const start = bytes.subarray(0, summaryLength)
  const text = bytes[0] === 0x7b ? decodeText(start) : encodeHex(start)
  return bytes.length > summaryLength ? `${text} ...` : text
}

/** Throws a 400 when a body has another apiVersion than the endpoint. */
export function checkApiVersion(apiVersion: string, expected: string): void {
  if (apiVersion === '' || apiVersion === expected) return
  throw newBadRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
  )
}
