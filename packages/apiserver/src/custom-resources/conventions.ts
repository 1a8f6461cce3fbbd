import { decodeObjectMeta } from '@coxswain/api'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepClone, deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import { compileSchema, type Schema } from '@coxswain/apimachinery/schema'
import { newBadRequest, newInvalid, newMethodNotSupported, newNotFound } from '@coxswain/apimachinery/status'
import { decodeText } from '@coxswain/kit'
import { findSkippedRules, hasRules, runRules } from '@coxswain/strategies/apiextensions'
import type { ObjectReader } from '../cache/resource-cache.ts'
import type { StoredObject } from '../cache/stored-object.ts'
import type {
  BodyConventions,
  DecodedBody,
  DecodedObject,
  KindVersion,
  ObjectChange,
  ResourceConventions,
  RulesInput,
} from '../registry/conventions.ts'
import { badBody, checkApiVersion, undecodable, unrecognized } from '../registry/decode-errors.ts'
import { applyPatch, jsonPatch, mergePatch } from '../registry/media-types.ts'
import { apiVersionOf, type ServedResource } from '../registry/registry.ts'
import { customScale } from '../registry/scale-conventions.ts'
import { unknownResource } from '../request/response.ts'

const bodies: BodyConventions = { protobuf: false, mergesRepeated: false }
const patchTypes = [jsonPatch, mergePatch, applyPatch]

/** Conventions of custom resources: their schema takes the place of a built-in kind's Go type. */
export function createCustomConventions({ group, resource, versions }: ResourceInfo): ResourceConventions {
  return {
    inScheme: false,
    routing: {
      // Errors may name paths that do not resolve to a schema.
      hidesWrongScope: true,
      ignoresCreateName: true,
      unsupportedVerb: (endpoint, verb) => newMethodNotSupported(endpoint.resource.info, verb),
      misplacedVerb: () => newBadRequest('name must be provided'),
      unknownSubresource: (endpoint, { name }) =>
        name === '' ? unknownResource() : newNotFound(endpoint.resource.info, name),
    },
    bodies,
    patchTypes,
    decode: (endpoint, body, bytes) => {
      checkKind(endpoint, body, bytes)
      return decode(endpoint, body)
    },
    decodeAdmitted,
    applyDefaults: ({ version }, object) => void compileSchema(version.schema()).applyDefaults(object),
    typed: (_, object) => object,
    bookmark: (_, object) => object,
    emptyStatus: () => undefined,
    statusMetadata: (object, old) => ({
      ...(old.metadata as JsonObject),
      managedFields: (object.metadata as JsonObject).managedFields,
    }),
    countsGenerations: true,
    qualifiesFinalizers: false,
    checkType,
    validateSchema: ({ version }, object, change) => validateSchema(version.schema(), object, change),
    validateRules,
    mixesVersions: versions.length > 1,
    prune: (version, object) => void compileSchema(version.schema()).prune(object, { resourceRoot: true }),
    completeStored: (version, object) => void compileSchema(version.schema()).applyDefaults(object),
    selectableFields: [...new Set(versions.flatMap(({ selectableFields }) => selectableFields))],
    unknownField: (_, name) => `field label not supported: ${name}`,
    printsDeclaredColumns: true,
    lastPage: { continue: '' },
    typesListItems: true,
    mediaTypeError: error => error,
    scale: customScale,
    storageFolder: `${group}/${resource}`,
  }
}

/** Throws a 400 when a body has no kind or apiVersion. Validation decides whether they are the right ones. */
function checkKind(
  { resource, version }: KindVersion,
  { object, patchProblems }: DecodedBody,
  bytes: Uint8Array,
): void {
  const expected = apiVersionOf(resource.info.group, version.name)
  const named = object as { apiVersion?: string | null; kind?: string | null }
  const { apiVersion, kind } = { apiVersion: named.apiVersion ?? '', kind: named.kind ?? '' }
  if (kind === '') {
    const problem = `Object 'Kind' is missing in '${decodeText(bytes)}'`
    throw unrecognized(bytes, resource.info.kind, problem)
  }
  if (named.apiVersion === null)
    throw badBody(kind, '', '.apiVersion accessor error: <nil> is of the type <nil>, expected string')
  if (apiVersion === '') throw badBody(kind, '', `Object 'apiVersion' is missing in '${decodeText(bytes)}'`)
  if (patchProblems) return
  checkApiVersion(apiVersion, expected)
  object.apiVersion = expected
}

function decode({ resource, version }: KindVersion, body: DecodedBody): DecodedObject {
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

/** The schema to prune an object by: that of its apiVersion, which a patch may have changed. */
function schemaFor({ resource, version }: KindVersion, { apiVersion, kind }: JsonObject): Schema {
  const { group, versions } = resource.info
  if (kind !== resource.info.kind || !String(apiVersion).startsWith(`${group}/`)) return otherKind
  if (apiVersion === apiVersionOf(group, version.name)) return version.schema()
  const named = versions.find(({ name }) => apiVersion === apiVersionOf(group, name))
  return named?.schema() ?? unknownVersion
}

const otherKind: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const unknownVersion: Schema = { type: 'object' }

function decodeAdmitted({ version }: KindVersion, value: JsonObject): JsonObject {
  const schema = compileSchema(version.schema())
  const object = { ...value, metadata: decodeObjectMeta(value.metadata ?? {}).object }
  schema.prune(object, { resourceRoot: true })
  schema.dropNulls(object)
  const embedded = schema.coerceEmbedded(object)
  if (embedded.error) throw new Error(field.formatFieldError(embedded.error))
  schema.applyDefaults(object)
  return object
}

/** An object of another kind or version is not validated any further. Throws a 422. */
function checkType({ resource, version }: KindVersion, object: JsonObject): void {
  const { group, kind } = resource.info
  const expected = apiVersionOf(group, version.name)
  const given = { apiVersion: String(object.apiVersion), kind: String(object.kind) }
  const errors: FieldError[] = []
  if (given.kind !== kind) errors.push(field.invalid(field.Path.of('kind'), given.kind, `must be ${kind}`))
  if (given.apiVersion !== expected)
    errors.push(field.invalid(field.Path.of('apiVersion'), given.apiVersion, `must be ${expected}`))
  if (errors.length === 0) return
  const [givenGroup = ''] = given.apiVersion.split('/')
  const { name = '' } = object.metadata as { name?: string }
  throw newInvalid({ group: givenGroup, kind: given.kind }, name, errors)
}

/** A status update validates the status alone, as if it were the whole object. */
function validateSchema(
  schema: Schema,
  object: JsonObject,
  change: ObjectChange | undefined,
): readonly FieldError[] {
  if (change?.subresource !== 'status') return compileSchema(schema).validate(object, { old: change?.old })
  const status = schema.properties?.status
  if (!status || object.status === undefined) return []
  const options = { old: change.old.status, path: field.Path.of('status') }
  return compileSchema(status).validate(object.status, options)
}

/** Rules are not evaluated for an object that does not have the shape they expect. */
function validateRules(
  { context, endpoint, object, old }: RulesInput,
  found: Iterable<FieldError>,
): readonly FieldError[] {
  const schema = endpoint.version.schema()
  if (!hasRules(schema)) return []
  const skipped = findSkippedRules(schema, [...found])
  if (skipped) return [skipped]
  const { errors, warnings } = runRules(schema, object, old)
  for (const text of warnings) context.warn(text)
  return errors
}

/**
 * Reads objects that were written under an earlier schema: prunes and defaults them by the current one.
 * Objects with a revision after `since` were written under it and stay unchanged.
 */
export function createStaleReader({ info }: ServedResource, since: number): ObjectReader {
  const versions = new Map(
    info.versions.map(version => [apiVersionOf(info.group, version.name), version] as const),
  )
  return (stored: StoredObject): StoredObject => {
    if (stored.revision > since) return stored
    const object = stored.parse()
    const version = versions.get(object.apiVersion as string)
    if (!version) return stored
    const schema = compileSchema(version.schema())
    const read = deepClone(object)
    schema.prune(read, { resourceRoot: true })
    schema.applyDefaults(read)
    return deepEqual(read, object) ? stored : stored.as(read)
  }
}
