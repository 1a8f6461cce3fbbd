import { builtinProtobuf } from '@coxswain/api'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import { isObject, type JsonObject, type Literals, maxJsonBytes, readJson } from '@coxswain/apimachinery/json'
import { type DefaultKind, protobufMediaType } from '@coxswain/apimachinery/protobuf'
import {
  isStatusError,
  newBadRequest,
  newRequestEntityTooLarge,
  newUnsupportedMediaType,
  type StatusError,
} from '@coxswain/apimachinery/status'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { decodeText, encodeHex } from '@coxswain/kit'
import { getHeader, parseMediaType } from '@coxswain/wire'
import type { RequestContext } from '../request/context.ts'

/** A request body as JSON, with what a strict reader has to say about it. */
export interface DecodedBody {
  readonly object: JsonObject
  /** Paths of members that stand there twice. */
  readonly duplicates: readonly string[]
  readonly literals?: Literals | undefined
  /** What strict decoding has against the text besides. */
  readonly problems?: readonly string[]
  /** Of an object that a patch has made: what strict decoding has against the patch. */
  readonly patchProblems?: readonly string[]
}

const jsonTypes = ['application/json', 'application/yaml']
const builtinTypes = [...jsonTypes, protobufMediaType]

/** Reads the body by its content type; custom resources have no protobuf. Throws a 400, 413 or 415. */
export function readBody(context: RequestContext, custom: boolean, kind?: DefaultKind): DecodedBody {
  const { headers } = context.request
  const body = bytesOf(context)
  const { type } = parseMediaType(getHeader(headers, 'content-type') || 'application/json')
  const accepted = custom ? jsonTypes : builtinTypes
  // The words are the same for custom resources: the list is the server's, not the resource's.
  if (!accepted.includes(type)) throw newUnsupportedMediaType(builtinTypes)
  if (type === 'application/yaml') return readYamlBody(body, context.yamlProblems)
  if (type === protobufMediaType) return readProtobufBody(body, kind)
  return !kind || kind.kind === 'DeleteOptions' ? readJsonBody(body) : readTypedBody(body, kind.kind, custom)
}

/** The body's bytes. Throws a 413 when the transport stopped reading. */
export function bytesOf({ request }: RequestContext): Uint8Array {
  if (request.bodyTooLarge) throw newRequestEntityTooLarge(`limit is ${maxJsonBytes}`)
  return request.body ?? new Uint8Array()
}

function readYamlBody(bytes: Uint8Array, known: readonly string[] = []): DecodedBody {
  try {
    const { value = {}, problems = [] } = readYaml(bytes) ?? {}
    if (isObject(value)) return { object: value, duplicates: [], problems: [...known, ...problems] }
  } catch (error) {
    if (isMachineryError(error, 'JsonTooLarge')) throw newRequestEntityTooLarge(error.message)
    if (isMachineryError(error)) throw newBadRequest(`error decoding YAML: ${error.message}`)
    throw error
  }
  throw newBadRequest('error decoding YAML: the body is not an object')
}

/** Unknown fields of protobuf are dropped without a word, as upstream does. */
function readProtobufBody(bytes: Uint8Array, kind: DefaultKind | undefined): DecodedBody {
  try {
    return { object: builtinProtobuf.decode(bytes, kind), duplicates: [] }
  } catch (error) {
    if (isMachineryError(error)) throw newBadRequest(error.message)
    throw error
  }
}

/** As `readJsonBody`, with the kind that was expected and the beginning of what came. */
function readTypedBody(bytes: Uint8Array, kind: string, custom: boolean): DecodedBody {
  try {
    return readJsonBody(bytes, !custom)
  } catch (error) {
    if (!isStatusError(error) || error.reason !== 'BadRequest') throw error
    throw unrecognized(bytes, kind, error.message)
  }
}

/** 400 for a body that does not even say what it is. */
export function unrecognized(bytes: Uint8Array, kind: string, problem: string): StatusError {
  const what = `the object provided is unrecognized (must be of type ${kind})`
  return newBadRequest(`${what}: ${problem} (${summarize(bytes)})`)
}

const summaryLength = 30

/** JSON objects as text, everything else as hexadecimal digits. */
function summarize(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>'
  const start = bytes.subarray(0, summaryLength)
  const text = bytes[0] === 0x7b ? decodeText(start) : encodeHex(start)
  return bytes.length > summaryLength ? `${text} ...` : text
}

function notAnObject(value: unknown): string {
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  const target =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  return `json: cannot unmarshal ${type} into Go value of type ${target}`
}

/** Throws a 400 or 413 in upstream's words. */
export function readJsonBody(bytes: Uint8Array, mergeRepeated = false): DecodedBody {
  try {
    const { value, duplicates, literals } = readJson(bytes, { mergeRepeated })
    if (value === null) return { object: {}, duplicates }
    if (!isObject(value))
      throw newBadRequest(`couldn't get version/kind; json parse error: ${notAnObject(value)}`)
    return { object: value, duplicates, literals }
  } catch (error) {
    if (isMachineryError(error, 'JsonTooLarge')) throw newRequestEntityTooLarge(error.message)
    if (isMachineryError(error))
      throw newBadRequest(`couldn't get version/kind; json parse error: ${error.message}`)
    throw error
  }
}
