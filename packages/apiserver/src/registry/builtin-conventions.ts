import { decodeBuiltin } from '@coxswain/api'
import { childObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { ResourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import type { GroupVersionKind } from '@coxswain/apimachinery/meta'
import { newBadRequest, newMethodNotSupported, StatusError } from '@coxswain/apimachinery/status'
import type { Strategy } from '@coxswain/strategies'
import { unknownResource } from '../request/response.ts'
import type {
  BodyConventions,
  DecodedBody,
  DecodedObject,
  KindVersion,
  ResourceConventions,
} from './conventions.ts'
import { checkApiVersion, undecodable, unregisteredKind } from './decode-errors.ts'
import { applyPatch, jsonPatch, mergePatch, strategicPatch } from './media-types.ts'
import { apiVersionOf, type Registry } from './registry.ts'
import { builtinScale } from './scale-conventions.ts'

export interface BuiltinKind {
  readonly info: ResourceInfo
  readonly strategy: Strategy
  /** Knows the kinds that bodies may name. */
  readonly scheme: Pick<Registry, 'hasKind'>
}

/** How bodies of built-in kinds are read. */
export const builtinBodies: BodyConventions = { protobuf: true, mergesRepeated: true }

const patchTypes = [jsonPatch, mergePatch, strategicPatch, applyPatch]

/** The conventions of built-in kinds. */
export function createBuiltinConventions({ info, strategy, scheme }: BuiltinKind): ResourceConventions {
  const statuses = new Map<VersionInfo, unknown>()
  return {
    inScheme: true,
    routing: {
      hidesWrongScope: false,
      ignoresCreateName: false,
      unsupportedVerb: methodNotAllowed,
      misplacedVerb: methodNotAllowed,
      unknownSubresource: unknownResource,
    },
    bodies: builtinBodies,
    patchTypes,
    decode: (endpoint, body) => {
      checkKind(scheme, endpoint, body)
      return decode(endpoint, body)
    },
    decodeAdmitted: (endpoint, value) => {
      const object = decodeAs(gvkOf(endpoint), value)
      strategy.default?.(object)
      return object
    },
    applyDefaults: (_, object) => strategy.default?.(object),
    typed: (endpoint, object) => decodeBuiltin(gvkOf(endpoint), object).object,
    bookmark: (endpoint, object) => {
      const { object: empty } = decodeBuiltin(gvkOf(endpoint), object)
      // Upstream's internal types have replicas as a plain number.
      if (endpoint.version.subresources.some(({ name }) => name === 'scale'))
        childObject(empty, 'spec').replicas = 0
      return empty
    },
    emptyStatus: endpoint => {
      const { version } = endpoint
      if (!statuses.has(version))
        statuses.set(version, decodeBuiltin(gvkOf(endpoint), {}).object.status ?? undefined)
      return statuses.get(version)
    },
    statusMetadata: object => ({ ...(object.metadata as JsonObject) }),
    countsGenerations: strategy.generation === true,
    qualifiesFinalizers: !strategy.plainFinalizers,
    checkType: () => {},
    validateSchema: () => nothing,
    validateRules: () => nothing,
    mixesVersions: false,
    prune: () => {},
    completeStored: () => {},
    selectableFields: info.versions.find(version => version.storage)?.selectableFields ?? [],
    unknownField: ({ selectableFields }, field) =>
      selectableFields.length > 0
        ? `field label not supported: ${field}`
        : `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    printsDeclaredColumns: false,
    lastPage: {},
    typesListItems: false,
    mediaTypeError: ({ status }, message) => new StatusError({ ...status, message, details: {} }),
    scale: builtinScale,
    storageFolder: folders[`${info.group}/${info.resource}`] ?? info.resource,
  }
}

const nothing: readonly never[] = []

/** Storage paths of kinds whose folder has another name upstream; clients see them in conflict messages. */
const folders: Readonly<Record<string, string>> = {
  '/endpoints': 'services/endpoints',
  '/nodes': 'minions',
  '/replicationcontrollers': 'controllers',
  '/services': 'services/specs',
  'apiextensions.k8s.io/customresourcedefinitions': 'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices': 'apiregistration.k8s.io/apiservices',
}

function gvkOf({ resource, version }: KindVersion): GroupVersionKind {
  const { group, kind } = resource.info
  return { group, version: version.name, kind }
}

/** A 405 of the router, which does not know the resource. */
export function methodNotAllowed(): StatusError {
  const { status } = newMethodNotSupported({ group: '', resource: '' }, '')
  const message = 'the server does not allow this method on the requested resource'
  return new StatusError({ ...status, message, details: {} })
}

/** Decodes a value as an object of exactly this kind. Throws a MachineryError, or an Error with a text for the client. */
export function decodeAs(kind: GroupVersionKind, value: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(kind.group, kind.version)
  if (value.kind !== kind.kind || value.apiVersion !== apiVersion)
    throw new Error(
      `unable to decode ${String(value.apiVersion)}, Kind=${String(value.kind)} into ${apiVersion}, Kind=${kind.kind}`,
    )
  return decodeBuiltin(kind, value).object
}

/** Throws a 400 when a body has another kind or apiVersion; sets them when they are missing. */
function checkKind(
  scheme: Pick<Registry, 'hasKind'>,
  { resource, version }: KindVersion,
  { object }: DecodedBody,
): void {
  const expected = apiVersionOf(resource.info.group, version.name)
  const { kind: expectedKind } = resource.info
  const named = object as { apiVersion?: string | null; kind?: string | null }
  const { apiVersion, kind } = { apiVersion: named.apiVersion ?? '', kind: named.kind ?? '' }
  const given = { apiVersion: apiVersion || expected, kind: kind || expectedKind }
  if (!scheme.hasKind(given.apiVersion, given.kind)) {
    const data = `${given.kind} in version ${JSON.stringify(given.apiVersion.split('/').at(-1))}`
    const detail = unregisteredKind(given.apiVersion, given.kind)
    throw newBadRequest(`${data} cannot be handled as a ${expectedKind}: ${detail}`)
  }
  checkApiVersion(apiVersion, expected)
  object.apiVersion = expected
  if (kind !== '' && kind !== expectedKind) {
    throw newBadRequest(`the kind in the data (${kind}) does not match the expected kind (${expectedKind})`)
  }
  object.kind = expectedKind
}

function decode(endpoint: KindVersion, body: DecodedBody): DecodedObject {
  const kind = gvkOf(endpoint)
  try {
    const { object, unknown } = decodeBuiltin(kind, body.object, { literals: body.literals })
    return { object, unknown: unknown.length < 2 ? unknown : inOrderOfText(unknown, body.object) }
  } catch (error) {
    throw undecodable(kind.kind, kind.version, error)
  }
}

/** Sorts paths by their position in the text of `document`. */
function inOrderOfText(paths: readonly string[], document: JsonObject): string[] {
  /** The position of each member in its object: computed once per object, not once per path. */
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
