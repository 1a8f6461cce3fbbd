import { decodeBuiltin } from '@coxswain/api'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import {
  newBadRequest,
  newConflict,
  newInvalid,
  newNotFound,
  newUnknownError,
  StatusError,
} from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import type { WireResponse } from '@coxswain/wire'
import type { ResolvedAuthentication } from '../authentication/authentication.ts'
import { signJwt } from '../authentication/jwt/jwt.ts'
import type { BoundResource } from '../authentication/service-account/bound-objects.ts'
import { type Reference, writeClaims } from '../authentication/service-account/claims.ts'
import type { ServiceAccounts } from '../authentication/service-account/issuer.ts'
import { builtinBodies } from '../registry/builtin-conventions.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseWriteOptions } from '../request/write-options.ts'
import { readBody } from '../write/body.ts'
import { metadataOf } from '../write/metadata.ts'
import { runSteps, type Step, steps } from '../write/pipeline.ts'
import type { WritePorts } from '../write/ports.ts'
import { createPart, createWrite, type Write } from '../write/write.ts'

const requestKind = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' }
const requestVersion = 'authentication.k8s.io/v1'
const shortest = 600
const longest = 2 ** 32
const defaultSeconds = 3600
/** The expiration that Pods request whose clients may not refresh tokens; it is extended to a year. */
const extendableSeconds = 3607
const extendedSeconds = 365 * 24 * 3600

interface TokenSpec {
  readonly audiences?: readonly string[]
  readonly expirationSeconds?: number | bigint
  readonly boundObjectRef?: {
    readonly kind?: string
    readonly apiVersion?: string
    readonly name?: string
    readonly uid?: string
  }
}

/** What token requests need of the server. */
export interface TokenPorts extends WritePorts {
  /** The issuer, and the audiences of tokens that name none. */
  readonly authentication: Pick<ResolvedAuthentication, 'serviceAccounts' | 'audiences' | 'server'>
}

/** The pipelines before and after the token is issued. */
const admittedRequest: readonly Step<Write>[] = [steps.mutate]
const issuedToken: readonly Step<Write>[] = [steps.admit]

/** `serviceaccounts/token`: issues a token for the account. Throws a 501 without an issuer. */
export async function createToken(
  ports: TokenPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const { authentication, cache, env } = ports
  const { name, namespace } = context.info
  const accounts = authentication.serviceAccounts
  if (!accounts) throw withoutIssuer()
  const view = ports.reader.view(context, tokenEndpoint(endpoint))
  const options = parseWriteOptions(context, 'CreateOptions')
  const request = readRequest(context)
  const part = createPart(requestKind, request)
  const write = createWrite(ports, { context, endpoint, options, operation: 'CREATE', part })
  await runSteps(admittedRequest, write)
  const metadata = metadataOf(request)
  checkPlace(context, metadata.name, metadata.namespace)
  await cache.fresh()
  const account = authentication.server.objects.find('serviceaccounts', namespace, name)
  if (!account) throw newNotFound(endpoint.resource.info, name)
  if (metadata.uid && metadata.uid !== account.uid) {
    const detail = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${account.uid})`
    throw newConflict({ group: requestKind.group, resource: requestKind.kind }, name, detail)
  }
  const spec = (request.spec ?? {}) as TokenSpec
  const audiences = spec.audiences?.length ? spec.audiences : authentication.audiences
  const requested = Number(spec.expirationSeconds ?? defaultSeconds)
  checkExpiration(requested)
  await runSteps(issuedToken, write)
  const bound = spec.boundObjectRef ? findBound(ports, context, spec.boundObjectRef) : {}
  const seconds = shorten(context, accounts, requested)
  const isExtended =
    accounts.extendExpiration &&
    bound.pod !== undefined &&
    seconds === extendableSeconds &&
    audiences.every(audience => authentication.audiences.includes(audience))
  const now = env.clock.now()
  const id = env.random.uuid()
  const claims = writeClaims(
    {
      namespace,
      serviceAccount: { name, uid: account.uid },
      ...bound,
      ...(isExtended && { warnAfter: Math.floor(now / 1000) + seconds }),
      audiences,
      now,
      expirationSeconds: isExtended ? extend(accounts) : seconds,
      id,
    },
    accounts.issuers[0]!,
  )
  context.auditAnnotations.set('authentication.kubernetes.io/issued-credential-id', `JTI=${id}`)
  return view.object(201, {
    kind: requestKind.kind,
    apiVersion: requestVersion,
    metadata: { ...metadata, name, namespace, uid: account.uid, creationTimestamp: formatTime(now) },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: {
      token: signJwt(claims, accounts.signingKey),
      expirationTimestamp: formatTime(now + seconds * 1000),
    },
  })
}

function withoutIssuer(): StatusError {
  const { status } = newUnknownError('this server signs no tokens of service accounts')
  return new StatusError({ ...status, reason: 'NotImplemented', code: 501 })
}

function readRequest(context: ResourceContext): JsonObject {
  const body = readBody(context, builtinBodies, { apiVersion: requestVersion, kind: requestKind.kind })
  const { apiVersion = '', kind = '' } = body.object as { apiVersion?: string; kind?: string }
  if (kind !== '' && kind !== requestKind.kind)
    throw newBadRequest(`the kind in the data (${kind}) does not match the expected kind (TokenRequest)`)
  if (apiVersion !== '' && apiVersion !== requestVersion) {
    throw newBadRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${requestVersion})`,
    )
  }
  try {
    const { object } = decodeBuiltin(requestKind, body.object, { literals: body.literals })
    return { ...object, metadata: isObject(object.metadata) ? object.metadata : {} }
  } catch (error) {
    if (!isMachineryError(error)) throw error
    throw newBadRequest(`TokenRequest in version "v1" cannot be handled as a TokenRequest: ${error.message}`)
  }
}

function checkPlace({ info }: ResourceContext, name = '', namespace = ''): void {
  const refuse = (member: string, value: string) => {
    const detail = `must match the service account ${member} if specified`
    return newInvalid(requestKind, info.name, [
      field.invalid(field.Path.of('metadata', member), value, detail),
    ])
  }
  if (name !== '' && name !== info.name) throw refuse('name', name)
  if (namespace !== '' && namespace !== info.namespace) throw refuse('namespace', namespace)
}

function checkExpiration(seconds: number): void {
  const path = field.Path.of('spec', 'expirationSeconds')
  const detail =
    seconds < shortest
      ? 'may not specify a duration less than 10 minutes'
      : seconds > longest && 'may not specify a duration larger than 2^32 seconds'
  if (detail) throw newInvalid(requestKind, '', [field.invalid(path, seconds, detail)])
}

function shorten({ warnings }: ResourceContext, { maxExpiration }: ServiceAccounts, seconds: number): number {
  if (maxExpiration === undefined || seconds <= maxExpiration) return seconds
  warnings.push(`requested expiration of ${seconds} seconds shortened to ${maxExpiration} seconds`)
  return maxExpiration
}

function extend({ maxExpiration }: ServiceAccounts): number {
  return maxExpiration === undefined ? extendedSeconds : Math.min(extendedSeconds, maxExpiration)
}

const bindable: ReadonlyMap<string, BoundResource> = new Map([
  ['Pod', 'pods'],
  ['Node', 'nodes'],
  ['Secret', 'secrets'],
])

/** The object that the token is bound to; it must exist. */
function findBound(
  ports: TokenPorts,
  { info }: ResourceContext,
  { kind = '', apiVersion = '', name = '', uid = '' }: NonNullable<TokenSpec['boundObjectRef']>,
): { readonly pod?: Reference; readonly node?: Reference; readonly secret?: Reference } {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const resource = group === '' ? bindable.get(kind) : undefined
  if (!resource) throw newBadRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  const { objects } = ports.authentication.server
  const object = objects.find(resource, info.namespace, name)
  if (!object) throw newNotFound({ group: '', resource }, name)
  const { serviceAccountName, nodeName } = (object.parse().spec ?? {}) as {
    serviceAccountName?: string
    nodeName?: string
  }
  if (resource === 'pods' && serviceAccountName !== info.name) {
    throw newBadRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(info.name)} to pod running with different serviceaccount name.`,
    )
  }
  if (uid !== '' && uid !== object.uid) {
    const detail = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw newConflict({ group: '', resource: kind }, name, detail)
  }
  const reference = { name, uid: object.uid }
  if (resource === 'secrets') return { secret: reference }
  if (resource === 'nodes') return { node: reference }
  if (!nodeName) return { pod: reference }
  const node = objects.find('nodes', '', nodeName)
  return { pod: reference, node: { name: nodeName, uid: node?.uid ?? '' } }
}

/** The endpoint for the response: a TokenRequest, not a ServiceAccount. */
function tokenEndpoint({ resource, version }: Endpoint): Endpoint {
  const shown = { ...version, name: requestKind.version }
  const info = { ...resource.info, group: requestKind.group, kind: requestKind.kind }
  return { resource: { ...resource, info, storageVersion: shown, strategy: {} }, version: shown }
}
