import { formatMicroTime } from '@coxswain/apimachinery'
import { getHeader } from '@coxswain/wire'
import type { JsonObject } from '../json.ts'
import type { RequestContext, UserInfo } from '../request/context.ts'
import type { Level, Stage } from './policy.ts'

/** `Event` of `audit.k8s.io/v1`: one stage of one request. */
export type AuditEvent = JsonObject & {
  readonly auditID: string
  readonly stage: Stage
  readonly level: Level
}

/** What a request leaves in the audit log, filled as it goes on. */
export interface AuditRecord {
  readonly id: string
  readonly level: Level
  readonly receivedAt: number
  requestObject?: unknown
  responseObject?: unknown
  responseStatus?: JsonObject
}

/** The event of a stage, in the order of upstream's fields. */
export function createEvent(
  context: RequestContext,
  record: AuditRecord,
  stage: Stage,
  now: number,
): AuditEvent {
  const { request, info, impersonation, auditAnnotations } = context
  const requester = impersonation?.requester ?? context.user
  const userAgent = getHeader(request.headers, 'user-agent')
  const sourceIPs = sourcesOf(context)
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: record.level,
    auditID: record.id,
    stage,
    requestURI: request.query === '' ? request.path : `${request.path}?${request.query}`,
    verb: info.verb,
    user: printUser(requester),
    ...(impersonation && { impersonatedUser: printUser(context.user) }),
    ...(impersonation?.constraint && {
      authenticationMetadata: { impersonationConstraint: impersonation.constraint },
    }),
    ...(sourceIPs.length > 0 && { sourceIPs }),
    ...(userAgent && { userAgent }),
    ...(info.isResource && { objectRef: refOf(context, record) }),
    ...(record.responseStatus && { responseStatus: record.responseStatus }),
    ...(record.requestObject !== undefined && { requestObject: record.requestObject }),
    ...(record.responseObject !== undefined && { responseObject: record.responseObject }),
    requestReceivedTimestamp: formatMicroTime(record.receivedAt),
    stageTimestamp: formatMicroTime(now),
    ...(auditAnnotations.size > 0 && { annotations: Object.fromEntries(auditAnnotations) }),
  }
}

function printUser({ name, uid, groups, extra }: UserInfo): JsonObject {
  return {
    username: name,
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  }
}

/** Proxies first, as they say themselves; the last is who has really connected. */
function sourcesOf({ request }: RequestContext): string[] {
  const forwarded = getHeader(request.headers, 'x-forwarded-for') ?? ''
  const sources = forwarded
    .split(',')
    .map(text => text.trim())
    .filter(text => text !== '')
  const { remoteAddress } = request
  if (remoteAddress !== undefined && sources.at(-1) !== remoteAddress) sources.push(remoteAddress)
  return sources
}

function refOf({ info }: RequestContext, record: AuditRecord): JsonObject {
  if (!info.isResource) return {}
  const metadata = metadataOf(record.responseObject) ?? metadataOf(record.requestObject) ?? {}
  const name = info.name || (typeof metadata.name === 'string' ? metadata.name : '')
  return {
    ...(info.resource !== '' && { resource: info.resource }),
    ...(info.namespace !== '' && { namespace: info.namespace }),
    ...(name !== '' && { name }),
    ...(typeof metadata.uid === 'string' && info.verb !== 'list' && { uid: metadata.uid }),
    ...(info.group !== '' && { apiGroup: info.group }),
    apiVersion: info.version,
    ...(typeof metadata.resourceVersion === 'string' &&
      info.verb !== 'list' && { resourceVersion: metadata.resourceVersion }),
    ...(info.subresource !== '' && { subresource: info.subresource }),
  }
}

function metadataOf(object: unknown): JsonObject | undefined {
  const metadata = (object as { metadata?: unknown } | undefined)?.metadata
  return typeof metadata === 'object' && metadata !== null ? (metadata as JsonObject) : undefined
}
