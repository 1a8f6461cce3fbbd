import type { JsonObject } from '@coxswain/apimachinery/json'
import { isStatusError, type Status } from '@coxswain/apimachinery/status'
import type { WireResponse } from '@coxswain/wire'
import type { Auditing } from '../audit/auditing.ts'
import { type AuditRecord, createEvent } from '../audit/event.ts'
import { readRequestObject, readResponseObject, withoutManagedFields } from '../audit/objects.ts'
import { createEvaluator, isAtLeast, type Stage, type Verdict } from '../audit/policy.ts'
import { auditIdOf } from '../request/audit-id.ts'
import type { RequestContext } from '../request/context.ts'
import type { Filter, Next } from '../request/filter.ts'
import { isLongRunning } from '../request/long-running.ts'
import { whenOver } from '../request/response.ts'

/** Audits requests. Comes after authentication, so that the user is known. */
export function createAudit({ policy, backends }: Auditing): Filter {
  const evaluate = createEvaluator(policy)
  return async (context, next) => {
    const verdict = evaluate(context)
    if (verdict.level === 'None') return await next(context)
    const { clock } = context.env
    context.auditId ??= auditIdOf(context)
    const record: AuditRecord = { id: context.auditId, level: verdict.level, receivedAt: clock.now() }
    const emit = (stage: Stage) => {
      if (verdict.omitStages.has(stage)) return
      const event = createEvent(context, record, stage, clock.now())
      for (const backend of backends) backend.write(event)
    }
    return await follow(context, next, { verdict, record, emit })
  }
}

interface Trail {
  readonly verdict: Verdict
  readonly record: AuditRecord
  readonly emit: (stage: Stage) => void
}

async function follow(context: RequestContext, next: Next, trail: Trail): Promise<WireResponse> {
  const { verdict, record, emit } = trail
  const clean = (object: unknown) => (verdict.omitManagedFields ? withoutManagedFields(object) : object)
  emit('RequestReceived')
  let response: WireResponse
  try {
    response = await next(context)
  } catch (error) {
    if (isAtLeast(verdict.level, 'Request')) record.requestObject = clean(readRequestObject(context))
    if (isStatusError(error)) {
      record.responseStatus = printStatus(error.status)
      emit('ResponseComplete')
    } else {
      record.responseStatus = {
        metadata: {},
        status: 'Failure',
        message: "APIServer panic'd",
        reason: 'InternalError',
        code: 500,
      }
      emit('Panic')
    }
    throw error
  }
  if (isAtLeast(verdict.level, 'Request')) record.requestObject = clean(readRequestObject(context))
  record.responseStatus = { metadata: {}, code: response.status }
  const { request } = context
  const long = isLongRunning(context.info)
    ? whenOver(
        response,
        () => request.signal,
        () => emit('ResponseComplete'),
      )
    : undefined
  if (long) {
    emit('ResponseStarted')
    return long
  }
  if (isAtLeast(verdict.level, 'RequestResponse')) record.responseObject = clean(readResponseObject(response))
  emit('ResponseComplete')
  return response
}

function printStatus({ status, message, reason, details, code }: Status): JsonObject {
  return {
    metadata: {},
    ...(status && { status }),
    ...(message && { message }),
    ...(reason && { reason }),
    ...(details && { details }),
    ...(code !== undefined && { code }),
  }
}

/** Audits requests that fail authentication. Comes before authentication. */
export function createFailedAuthenticationAudit({ policy, backends }: Auditing): Filter {
  const evaluate = createEvaluator(policy)
  return async (context, next) => {
    try {
      return await next(context)
    } catch (error) {
      const isFailed = isStatusError(error) && error.status.code === 401 && context.auditId === undefined
      if (!isFailed) throw error
      const { level, omitStages } = evaluate(context)
      if (level !== 'None' && !omitStages.has('ResponseStarted')) {
        const now = context.env.clock.now()
        context.auditId ??= auditIdOf(context)
        const record: AuditRecord = { id: context.auditId, level, receivedAt: now }
        record.responseStatus = {
          metadata: {},
          status: 'Failure',
          message: 'Authentication failed, no credentials that count',
          reason: 'Unauthorized',
          code: 401,
        }
        for (const backend of backends) backend.write(createEvent(context, record, 'ResponseStarted', now))
      }
      throw error
    }
  }
}
