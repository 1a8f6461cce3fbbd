import { deepClone, writeJsonBytes } from '@coxswain/apimachinery/json'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import {
  failureStatus,
  isStatusError,
  newInternalError,
  newInvalid,
  type Status,
} from '@coxswain/apimachinery/status'
import { type Env, encodeBase64 } from '@coxswain/kit'
import type { OperatorClient } from '../operator-client.ts'
import type { AdmissionContext, AdmissionSubject, Incoming, Verdict } from './admission.ts'
import { createJsonPatch } from './json-diff.ts'
import type { AdmissionRequest, AdmissionResponse } from './review.ts'
import type { WebhookDefinition } from './webhook-builder.ts'

export interface AdmissionDependencies {
  readonly env: Env
  readonly client: OperatorClient
  readonly signal: AbortSignal
  /** Called when a webhook failed with anything but a StatusError. */
  readonly onPanic: () => void
}

/** Calls the defaulter, and answers with a patch of its changes. */
export async function answerDefault(
  definition: WebhookDefinition,
  request: AdmissionRequest,
  deps: AdmissionDependencies,
): Promise<AdmissionResponse> {
  return await answer(request, deps, async context => {
    const given = request.object as Incoming<ApiObject> | null | undefined
    if (!given) return {} // a deletion
    const original = deepClone(given)
    const result = (await definition.defaulter!.run(given, context)) ?? given
    const patch = createJsonPatch(original, result)
    return patch.length > 0 ? { patch: encodeBase64(writeJsonBytes(patch)), patchType: 'JSONPatch' } : {}
  })
}

/** Answers with the validator's verdict. */
export async function answerValidate(
  definition: WebhookDefinition,
  request: AdmissionRequest,
  deps: AdmissionDependencies,
): Promise<AdmissionResponse> {
  return await answer(request, deps, async context => {
    const { operation, object, oldObject } = request
    const subject = { operation, object: object ?? undefined, oldObject: oldObject ?? undefined }
    const verdict = await definition.validator!.run({
      ...(subject as AdmissionSubject<ApiObject>),
      context,
    })
    return { denied: denialOf(definition, request, verdict) }
  })
}

interface Outcome {
  readonly patch?: string
  readonly patchType?: 'JSONPatch'
  readonly denied?: Status | undefined
}

const allowed: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, code: 200 }

async function answer(
  request: AdmissionRequest,
  deps: AdmissionDependencies,
  work: (context: AdmissionContext) => Promise<Outcome>,
): Promise<AdmissionResponse> {
  const warnings: string[] = []
  const auditAnnotations: Record<string, string> = {}
  const context = createContext(request, deps, warnings, auditAnnotations)
  let outcome: Outcome
  try {
    outcome = await work(context)
  } catch (error) {
    outcome = { denied: statusOfThrown(error, context, deps) }
  }
  const { denied, ...patched } = outcome
  return {
    uid: request.uid,
    allowed: !denied,
    status: denied ?? allowed,
    ...patched,
    ...(warnings.length > 0 && { warnings }),
    ...(Object.keys(auditAnnotations).length > 0 && { auditAnnotations }),
  }
}

function createContext(
  request: AdmissionRequest,
  { env, client, signal }: AdmissionDependencies,
  warnings: string[],
  auditAnnotations: Record<string, string>,
): AdmissionContext {
  const { uid, operation, name = '', namespace, subResource = '', dryRun = false } = request
  return {
    uid,
    operation,
    name,
    namespace: namespace === '' ? undefined : namespace,
    subresource: subResource,
    dryRun,
    user: request.userInfo ?? {},
    requestKind: request.requestKind,
    requestResource: request.requestResource,
    options: (request.options ?? {}) as DeepReadonly<Record<string, unknown>>,
    client,
    clock: env.clock,
    log: env.log.child({ uid, operation, object: namespace ? `${namespace}/${name}` : name }),
    signal,
    warn: message => {
      warnings.push(message)
    },
    audit: (key, value) => {
      auditAnnotations[key] = value
    },
  }
}

function denialOf(
  { kind }: WebhookDefinition,
  { name = '' }: AdmissionRequest,
  verdict: Verdict,
): Status | undefined {
  if (typeof verdict === 'string') return failureStatus({ code: 403, reason: 'Forbidden', message: verdict })
  if (!verdict || verdict.length === 0) return undefined
  return newInvalid({ group: kind.group, kind: kind.kind }, name, verdict).status
}

/** A StatusError is an answer; any other error is a bug of the webhook, and only logged. */
function statusOfThrown(
  error: unknown,
  { log }: AdmissionContext,
  { onPanic }: AdmissionDependencies,
): Status {
  if (isStatusError(error)) return error.status
  log.error('a webhook threw', { error })
  onPanic()
  return newInternalError('the webhook failed').status
}
