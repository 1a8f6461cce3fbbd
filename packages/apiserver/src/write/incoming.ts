import { decodeBuiltin, decodeObjectMeta } from '@coxswain/api'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { compileSchema, type Schema } from '@coxswain/apimachinery/schema'
import { newBadRequest, type StatusError } from '@coxswain/apimachinery/status'
import { decodeText } from '@coxswain/kit'
import { applyDefaults } from '../registry/apply-defaults.ts'
import type { Endpoint, Registry } from '../registry/registry.ts'
import { apiVersionOf } from '../registry/served-resource.ts'
import type { RequestContext } from '../request/context.ts'
import type { WriteOptions } from '../request/write-options.ts'
import { type DecodedBody, unrecognized } from './body.ts'

/**
 * Makes a decoded body an object of the endpoint's storage version: its kind is checked, unknown fields are dropped and
 * told, defaults are filled in. Throws a 400 when it is something else.
 */
export function receiveObject(
  context: RequestContext,
  endpoint: Endpoint,
  body: DecodedBody,
  options: WriteOptions,
): JsonObject {
  const { resource } = endpoint
  checkKind(context, endpoint, body)
  const { object, unknown } = resource.custom ? decodeCustom(endpoint, body) : decodeKind(endpoint, body)
  reportStrict(context, endpoint, strictErrors(unknown, body), options)
  applyDefaults(endpoint, object)
  return object
}

interface Decoded {
  readonly object: JsonObject
  readonly unknown: readonly string[]
}

function decodeKind({ resource, version }: Endpoint, body: DecodedBody): Decoded {
  const { group, kind } = resource.info
  try {
    const options = { literals: body.literals }
    const { object, unknown } = decodeBuiltin({ group, version: version.name, kind }, body.object, options)
    return { object, unknown: unknown.length < 2 ? unknown : inOrderOfText(unknown, body.object) }
  } catch (error) {
    throw undecodable(kind, version.name, error)
  }
}

/** Paths in the order in which the text of `document` has them. */
function inOrderOfText(paths: readonly string[], document: JsonObject): string[] {
  /** Where each member stands in its object: looked up once an object, not once a path. */
  const places = new Map<object, Map<string, number>>()
  const placeOf = (holder: object, key: string): number => {
    let known = places.get(holder)
    if (!known) {
      known = new Map(Object.keys(holder).map((name, index) => [name, index]))
      places.set(holder, known)
    }
    return known.get(key) ?? -1
  }
  const positions = paths.map(path => {
    let value: unknown = document
    const position: number[] = []
    for (const step of path.split(/\.|(?=\[)/)) {
      const key = step.startsWith('[') ? step.slice(1, -1) : step
      if (typeof value !== 'object' || value === null) break
      position.push(placeOf(value, key))
      value = (value as JsonObject)[key]
    }
    return { path, position }
  })
  const compare = (a: readonly number[], b: readonly number[]): number => {
    const at = a.findIndex((index, depth) => index !== b[depth])
    return at < 0 ? 0 : a[at]! - (b[at] ?? -1)
  }
  return positions.sort((a, b) => compare(a.position, b.position)).map(({ path }) => path)
}

function decodeCustom({ resource, version }: Endpoint, body: DecodedBody): Decoded {
  const { object } = body
  try {
    const metadata = decodeObjectMeta(object.metadata, { literals: body.literals })
    object.metadata = metadata.object
    const schema = compileSchema(schemaFor({ resource, version }, object))
    const pruned = schema.prune(object, { resourceRoot: true })
    schema.dropNulls(object)
    const embedded = schema.coerceEmbedded(object)
    if (embedded.error)
      throw badBody(resource.info.kind, version.name, field.formatFieldError(embedded.error))
    return { object, unknown: [...metadata.unknown, ...pruned, ...embedded.unknown].sort() }
  } catch (error) {
    throw undecodable(resource.info.kind, version.name, error)
  }
}

/** The schema that an object is pruned by: that of the type it names, which a patch may have changed. */
function schemaFor({ resource, version }: Endpoint, { apiVersion, kind }: JsonObject): Schema {
  const { group, versions } = resource.info
  if (kind !== resource.info.kind || !String(apiVersion).startsWith(`${group}/`)) return otherKind
  if (apiVersion === apiVersionOf(group, version.name)) return version.schema()
  const named = versions.find(({ name }) => apiVersion === apiVersionOf(group, name))
  return named?.schema() ?? unknownVersion
}

const otherKind: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const unknownVersion: Schema = { type: 'object' }

function undecodable(kind: string, version: string, error: unknown): unknown {
  // The stack is full: decoding goes down level by level.
  if (error instanceof RangeError || isMachineryError(error, 'TooDeep'))
    return badBody(kind, version, 'it is nested too deeply')
  if (!isMachineryError(error, 'BadJson')) return error
  return badBody(kind, version, error.message)
}

function badBody(kind: string, version: string, problem: string): StatusError {
  return newBadRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${problem}`,
  )
}

function checkKind(
  { state, request }: RequestContext,
  { resource, version }: Endpoint,
  { object, patchProblems }: DecodedBody,
): void {
  const expected = apiVersionOf(resource.info.group, version.name)
  const named = object as { apiVersion?: string | null; kind?: string | null }
  const { apiVersion, kind } = { apiVersion: named.apiVersion ?? '', kind: named.kind ?? '' }
  if (resource.custom) {
    const bytes = request.body ?? new Uint8Array()
    if (kind === '') {
      const problem = `Object 'Kind' is missing in '${decodeText(bytes)}'`
      throw unrecognized(bytes, resource.info.kind, problem)
    }
    if (named.apiVersion === null)
      throw badBody(kind, '', '.apiVersion accessor error: <nil> is of the type <nil>, expected string')
    if (apiVersion === '') throw badBody(kind, '', `Object 'apiVersion' is missing in '${decodeText(bytes)}'`)
  }
  const given = { apiVersion: apiVersion || expected, kind: kind || resource.info.kind }
  if (!resource.custom && !isRegistered(state.registry, given)) {
    const data = `${given.kind} in version ${JSON.stringify(given.apiVersion.split('/').at(-1))}`
    const detail = unregisteredKind(given.apiVersion, given.kind)
    throw newBadRequest(`${data} cannot be handled as a ${resource.info.kind}: ${detail}`)
  }
  // What the type of a custom object has to be after a patch is for validation to say.
  if (resource.custom && patchProblems) return
  if (apiVersion !== '' && apiVersion !== expected) {
    throw newBadRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    )
  }
  object.apiVersion = expected
  // What the kind of a custom object has to be is for validation to say.
  if (resource.custom) return
  if (kind !== '' && kind !== resource.info.kind) {
    throw newBadRequest(
      `the kind in the data (${kind}) does not match the expected kind (${resource.info.kind})`,
    )
  }
  object.kind = resource.info.kind
}

function isRegistered(
  registry: Registry,
  { apiVersion, kind }: { apiVersion: string; kind: string },
): boolean {
  let kinds = registeredKinds.get(registry)
  if (kinds?.generation !== registry.generation) {
    const names = new Set<string>()
    for (const { info, custom } of registry.resources()) {
      if (custom) continue
      for (const { name } of info.versions) names.add(`${apiVersionOf(info.group, name)} ${info.kind}`)
    }
    kinds = { generation: registry.generation, names }
    registeredKinds.set(registry, kinds)
  }
  return kinds.names.has(`${apiVersion} ${kind}`)
}

const registeredKinds = new WeakMap<
  Registry,
  { readonly generation: number; readonly names: ReadonlySet<string> }
>()

/** What upstream's decoder says about a kind that nobody has told it of. */
export function unregisteredKind(apiVersion: string, kind: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`
}

/** Unknown fields before duplicate ones, as upstream lists them. */
function strictErrors(unknown: readonly string[], body: DecodedBody): string[] {
  return [
    ...(body.patchProblems ?? []),
    ...unknown.map(path => `unknown field ${JSON.stringify(path)}`),
    ...(body.problems ?? []),
    ...body.duplicates.map(path => `duplicate field ${JSON.stringify(path)}`),
  ]
}

/** The warnings that a text about repeated keys of a YAML document becomes: one for each line. */
export function splitYamlProblem(text: string): string[] {
  const [first = '', ...lines] = text.split('\n')
  return first === 'yaml: unmarshal errors:' ? lines.map(line => line.trim()) : [text]
}

function reportStrict(
  context: RequestContext,
  { resource, version }: Endpoint,
  errors: readonly string[],
  options: WriteOptions,
): void {
  if (errors.length === 0 || options.fieldValidation === 'Ignore') return
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
