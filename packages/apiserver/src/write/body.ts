import { builtinProtobuf } from '@coxswain/api'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import { isObject, maxJsonBytes, readJson } from '@coxswain/apimachinery/json'
import { type DefaultKind, protobufMediaType } from '@coxswain/apimachinery/protobuf'
import {
  isStatusError,
  newBadRequest,
  newRequestEntityTooLarge,
  newUnsupportedMediaType,
} from '@coxswain/apimachinery/status'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { getHeader, parseMediaType } from '@coxswain/wire'
import type { BodyConventions, DecodedBody } from '../registry/conventions.ts'
import { unrecognized } from '../registry/decode-errors.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { RequestContext } from '../request/context.ts'
import { kindOf, type Write } from './write.ts'

const noBytes = new Uint8Array()

/** Parses the body by its media type. */
export function receiveBody(write: Write): void {
  const { context, endpoint } = write
  write.body = readBody(context, endpoint.resource.bodies, kindOf(endpoint))
}

/**
 * Decodes the body as an object of the endpoint's kind and version: unknown fields are dropped and reported. Throws a 400 for
 * another kind.
 */
export function decode(write: Write): void {
  const { context, endpoint } = write
  const body = write.body!
  const { object, unknown } = endpoint.resource.decode(endpoint, body, context.request.body ?? noBytes)
  const errors = strictErrors(unknown, body)
  if (errors.length > 0) reportStrict(write, endpoint, errors)
  write.object = object
}

/** Fills in defaults. */
export function applyDefaults({ endpoint, object }: Write): void {
  endpoint.resource.applyDefaults(endpoint, object)
}

const noErrors: readonly string[] = []

/** Unknown fields before duplicate ones, as upstream lists them. */
function strictErrors(unknown: readonly string[], body: DecodedBody): readonly string[] {
  const { patchProblems = noErrors, problems = noErrors, duplicates } = body
  if (unknown.length + patchProblems.length + problems.length + duplicates.length === 0) return noErrors
  return [
    ...patchProblems,
    ...unknown.map(path => `unknown field ${JSON.stringify(path)}`),
    ...problems,
    ...duplicates.map(path => `duplicate field ${JSON.stringify(path)}`),
  ]
}

/** The warnings for a text about duplicate keys of a YAML document: one per line. */
export function splitYamlProblem(text: string): string[] {
  const [first = '', ...lines] = text.split('\n')
  return first === 'yaml: unmarshal errors:' ? lines.map(line => line.trim()) : [text]
}

function reportStrict(
  { context, options }: Write,
  { resource, version }: Endpoint,
  errors: readonly string[],
): void {
  if (options.fieldValidation === 'Ignore') return
  if (options.fieldValidation === 'Warn') {
    for (const error of errors) context.warnings.pushAll(splitYamlProblem(error))
    return
  }
  const { kind } = resource.info
  const detail = `strict decoding error: ${errors.join(', ')}`
  throw newBadRequest(
    `${kind} in version ${JSON.stringify(version.name)} cannot be handled as a ${kind}: ${detail}`,
  )
}

const jsonTypes = ['application/json', 'application/yaml']
const builtinTypes = [...jsonTypes, protobufMediaType]

type Merging = Pick<BodyConventions, 'mergesRepeated'>

/** How bodies without a kind of their own, such as DeleteOptions, are read. */
const optionsBodies: Merging = { mergesRepeated: false }

/** Parses the body by its content type. Throws a 400, 413 or 415. */
export function readBody(
  context: RequestContext,
  conventions: BodyConventions,
  kind?: DefaultKind,
): DecodedBody {
  const { headers } = context.request
  const body = bytesOf(context)
  const { type } = parseMediaType(getHeader(headers, 'content-type') || 'application/json')
  const accepted = conventions.protobuf ? builtinTypes : jsonTypes
  // The message is the same for custom resources: the list is the server's, not the resource's.
  if (!accepted.includes(type)) throw newUnsupportedMediaType(builtinTypes)
  if (type === 'application/yaml') return readYamlBody(body, context.yamlProblems)
  if (type === protobufMediaType) return readProtobufBody(body, kind)
  return !kind || kind.kind === 'DeleteOptions'
    ? readJsonBody(body, optionsBodies)
    : readTypedBody(body, kind.kind, conventions)
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

/** Unknown fields of protobuf are dropped silently, as upstream does. */
function readProtobufBody(bytes: Uint8Array, kind: DefaultKind | undefined): DecodedBody {
  try {
    return { object: builtinProtobuf.decode(bytes, kind), duplicates: [] }
  } catch (error) {
    if (isMachineryError(error)) throw newBadRequest(error.message)
    throw error
  }
}

/** As `readJsonBody`; errors have the expected kind and the beginning of the body. */
function readTypedBody(bytes: Uint8Array, kind: string, merging: Merging): DecodedBody {
  try {
    return readJsonBody(bytes, merging)
  } catch (error) {
    if (!isStatusError(error) || error.reason !== 'BadRequest') throw error
    throw unrecognized(bytes, kind, error.message)
  }
}

function notAnObject(value: unknown): string {
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  const target =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  return `json: cannot unmarshal ${type} into Go value of type ${target}`
}

/** Throws a 400 or 413 in upstream's words. */
function readJsonBody(bytes: Uint8Array, { mergesRepeated }: Merging): DecodedBody {
  try {
    const { value, duplicates, literals } = readJson(bytes, { mergeRepeated: mergesRepeated })
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
