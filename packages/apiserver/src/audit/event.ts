import type { JsonObject } from '@coxswain/apimachinery/json'
import { formatMicroTime } from '@coxswain/apimachinery/time'
import { getHeader } from '@coxswain/wire'
import type { RequestContext, UserInfo } from '../request/context.ts'
import type { Level, Stage } from './policy.ts'

/** `Event` of `audit.k8s.io/v1`: one stage of one request. */
export type AuditEvent = JsonObject & {
  readonly auditID: string
  readonly stage: Stage
  readonly level: Level
}

/** The audit state of a request, filled in as it is handled. */
export interface AuditRecord {
  readonly id: string
  readonly level: Level
  readonly receivedAt: number
  /** `receivedAt` as text, once it is needed. */
  receivedText?: string
  requestObject?: unknown
  responseObject?: unknown
  responseStatus?: JsonObject
}

/** The event of a stage, in the order of upstream's fields. Every request creates two; nothing is copied twice. */
export function createEvent(
  context: RequestContext,
  record: AuditRecord,
  stage: Stage,
  now: number,
): AuditEvent {
  const { request, info, impersonation, auditAnnotations } = context
  const event: JsonObject & { auditID: string; stage: Stage; level: Level } = {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: record.level,
    auditID: record.id,
    stage,
    requestURI: request.query === '' ? request.path : `${request.path}?${request.query}`,
    verb: info.verb,
    user: printUser(impersonation?.requester ?? context.user),
  }
  if (impersonation) {
    event.impersonatedUser = printUser(context.user)
    if (impersonation.constraint)
      event.authenticationMetadata = { impersonationConstraint: impersonation.constraint }
  }
  const sourceIPs = sourcesOf(context)
  if (sourceIPs.length > 0) event.sourceIPs = sourceIPs
  const userAgent = getHeader(request.headers, 'user-agent')
  if (userAgent) event.userAgent = shortenUserAgent(userAgent)
  if (info.isResource) event.objectRef = refOf(context, record)
  if (record.responseStatus) event.responseStatus = record.responseStatus
  if (record.requestObject !== undefined) event.requestObject = record.requestObject
  if (record.responseObject !== undefined) event.responseObject = record.responseObject
  record.receivedText ??= formatMicroTime(record.receivedAt)
  event.requestReceivedTimestamp = record.receivedText
  event.stageTimestamp = now === record.receivedAt ? record.receivedText : formatMicroTime(now)
  if (auditAnnotations.size > 0) event.annotations = Object.fromEntries(auditAnnotations)
  return event
}

const longestUserAgent = 1_024

/** As upstream does. */
function shortenUserAgent(text: string): string {
  return text.length > longestUserAgent ? `${text.slice(0, longestUserAgent)}...TRUNCATED` : text
}

/** Requests of one connection share one user object. */
const printedUsers = new WeakMap<UserInfo, JsonObject>()

function printUser(user: UserInfo): JsonObject {
  let printed = printedUsers.get(user)
  if (!printed) {
    const { name, uid, groups, extra } = user
    printed = {
      username: name,
      ...(uid && { uid }),
      ...(groups.length > 0 && { groups }),
      ...(extra && Object.keys(extra).length > 0 && { extra }),
    }
    printedUsers.set(user, printed)
  }
  return printed
}

/** The proxies as X-Forwarded-For lists them, then the address of the peer. */
function sourcesOf({ request }: RequestContext): string[] {
  const { remoteAddress } = request
  const forwarded = getHeader(request.headers, 'x-forwarded-for') ?? ''
  if (forwarded === '') return remoteAddress === undefined ? [] : [remoteAddress]
  const sources = forwarded
    .split(',')
    .map(text => text.trim())
    .filter(text => text !== '')
  if (remoteAddress !== undefined && sources.at(-1) !== remoteAddress) sources.push(remoteAddress)
  return sources
}

function refOf({ info }: RequestContext, record: AuditRecord): JsonObject {
  const reference: JsonObject = {}
  if (!info.isResource) return reference
  const metadata = metadataOf(record.responseObject) ?? metadataOf(record.requestObject)
  const name = info.name || (typeof metadata?.name === 'string' ? metadata.name : '')
  if (info.resource !== '') reference.resource = info.resource
  if (info.namespace !== '') reference.namespace = info.namespace
  if (name !== '') reference.name = name
  if (typeof metadata?.uid === 'string' && info.verb !== 'list') reference.uid = metadata.uid
  if (info.group !== '') reference.apiGroup = info.group
  reference.apiVersion = info.version
  if (typeof metadata?.resourceVersion === 'string' && info.verb !== 'list')
    reference.resourceVersion = metadata.resourceVersion
  if (info.subresource !== '') reference.subresource = info.subresource
  return reference
}

function metadataOf(object: unknown): JsonObject | undefined {
  const metadata = (object as { metadata?: unknown } | undefined)?.metadata
  return typeof metadata === 'object' && metadata !== null ? (metadata as JsonObject) : undefined
}
