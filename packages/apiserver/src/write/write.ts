import type { JsonObject } from '@coxswain/apimachinery/json'
import type { GroupVersionKind } from '@coxswain/apimachinery/meta'
import type { Claim, StrategyContext } from '@coxswain/strategies'
import {
  createAttributes,
  type RequestAttributes,
  writeOptionsObject,
} from '../admission/create-attributes.ts'
import type { StoredObject } from '../cache/stored-object.ts'
import type { DecodedBody } from '../registry/conventions.ts'
import { apiVersionOf, type Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import type { WriteOptions } from '../request/write-options.ts'
import { metadataOf } from './metadata.ts'
import type { WritePorts } from './ports.ts'

/** What admission sees of a request. */
export interface Admitted<W> {
  readonly ports: Pick<WritePorts, 'admission'>
  readonly describe: (write: W) => RequestAttributes
  /** Set when admission begins. */
  attributes: RequestAttributes | undefined
  /** Whether the server generated the object's name; passed to validating admission. */
  generated: boolean
  object: JsonObject
}

/** One write on its way from the request to the store. The steps of its pipeline read and change it. */
export interface Write extends Admitted<Write> {
  readonly ports: WritePorts
  readonly context: ResourceContext
  readonly endpoint: Endpoint
  readonly options: WriteOptions
  readonly operation: 'CREATE' | 'UPDATE'
  /** The subresource whose rules apply; empty for the object itself. */
  readonly subresource: string
  readonly strategyContext: StrategyContext
  /** What admission sees instead of `object`, when the endpoint takes a kind of its own. */
  part: Part | undefined
  body: DecodedBody | undefined
  /** The present object; undefined on create. */
  old: JsonObject | undefined
  claim: Claim | undefined
  /** A new object before its claim, for another attempt. */
  unclaimed: JsonObject | undefined
  /** The resourceVersion and uid that the client expects the present object to have. */
  expected: { readonly resourceVersion?: string | undefined; readonly uid?: string | undefined }
  /** Whether a lost race is a conflict: the client set the resourceVersion that it changes. */
  conditional: boolean
  /** The stored object; for a dry run, the one that would have been stored. */
  result: StoredObject | JsonObject | undefined
}

/** The body of an endpoint with a kind of its own: a Binding, an Eviction, a Scale, a TokenRequest, a review. */
export interface Part {
  /** @default the resource's kind */
  readonly kind?: GroupVersionKind
  /** Plug-ins may change it. */
  object: JsonObject
  oldObject?: JsonObject
  /** @default the name in the path */
  readonly name?: string
}

/** What admission sees of an endpoint that takes a kind of its own. A body may omit its kind: the path implies it. */
export function createPart(kind: GroupVersionKind, object: JsonObject, name?: string): Part {
  object.kind ??= kind.kind
  object.apiVersion ??= apiVersionOf(kind.group, kind.version)
  return { kind, object, ...(name !== undefined && { name }) }
}

export interface WriteRequest {
  readonly context: ResourceContext
  readonly endpoint: Endpoint
  readonly options: WriteOptions
  readonly operation: Write['operation']
  /** @default the subresource in the path */
  readonly subresource?: string
  readonly part?: Part
}

const noObject: JsonObject = Object.freeze({})
const nothingExpected = {}

/** A write before its first step. */
export function createWrite(ports: WritePorts, request: WriteRequest): Write {
  const { context, endpoint, options, operation, subresource = context.info.subresource, part } = request
  return {
    ports,
    describe: describeWrite,
    context,
    endpoint,
    options,
    operation,
    subresource,
    strategyContext: createStrategyContext(ports, context, options),
    part,
    body: undefined,
    object: part?.object ?? noObject,
    old: undefined,
    attributes: undefined,
    generated: false,
    claim: undefined,
    unclaimed: undefined,
    expected: nothingExpected,
    conditional: false,
    result: undefined,
  }
}

/** What strategies see of a request. */
function createStrategyContext(
  { env, cache, grants, serviceRanges, verifySignature }: WritePorts,
  { user, warnings }: ResourceContext,
  { dryRun }: WriteOptions,
): StrategyContext {
  const { clock, random } = env
  const warn = (text: string) => warnings.push(text)
  return { clock, random, objects: cache, grants, serviceRanges, verifySignature, user, dryRun, warn }
}

/** What admission sees of a write. */
export function describeWrite(write: Write): RequestAttributes {
  const { ports, context, endpoint, operation, options, part, object, old } = write
  const { server } = ports.admission
  const { dryRun } = options
  if (part) {
    const { kind, object: shown, oldObject, name = context.info.name } = part
    return createAttributes(context, endpoint, {
      server,
      operation,
      name,
      ...(kind && { kind }),
      object: shown,
      oldObject,
      dryRun,
      options: writeOptionsObject(context, operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions'),
    })
  }
  if (operation === 'UPDATE') {
    return createAttributes(context, endpoint, {
      server,
      operation,
      object,
      oldObject: old,
      dryRun,
      options: writeOptionsObject(context, 'UpdateOptions'),
    })
  }
  const { name = '', generateName } = metadataOf(object)
  write.generated = name === '' && Boolean(generateName)
  return createAttributes(context, endpoint, {
    server,
    operation,
    subresource: '',
    name,
    object,
    oldObject: undefined,
    dryRun,
    options: writeOptionsObject(context, 'CreateOptions'),
  })
}

/** The kind of a body that does not name one. */
export function kindOf({ resource, version }: Endpoint): { apiVersion: string; kind: string } {
  return { apiVersion: apiVersionOf(resource.info.group, version.name), kind: resource.info.kind }
}
