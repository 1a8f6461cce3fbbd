import { newBadRequest, newForbidden } from '@coxswain/apimachinery/status'
import type { Span } from '@coxswain/kit'
import { endCall } from '../../outbound/webhook-client.ts'
import { createAdmissionRequest } from '../admission-request.ts'
import type { Attributes } from '../attributes.ts'
import { type ConditionResult, matchConditions } from '../expressions/match-conditions.ts'
import type { RequestAuthorizer } from '../expressions/request-authorizer.ts'
import { matchesSelectors } from '../matching/selectors.ts'
import type { VersionedObjects } from '../versions.ts'
import { chooseVersion, encodeReview, type ReviewAnswer, readReview } from './review.ts'
import type { Candidate } from './webhook.ts'

/**
 * Whether to call a webhook whose rules match the request; synchronous unless an authorizer has to be asked. Throws a 403 when
 * its match conditions fail to evaluate.
 */
export function isCalled(
  attributes: Attributes,
  { webhook, matched }: Candidate,
  using: {
    readonly authorizer: RequestAuthorizer
    readonly objects: () => VersionedObjects | Promise<VersionedObjects>
  },
): boolean | Promise<boolean> {
  if (!matchesSelectors(attributes, webhook.selectors)) return false
  if (webhook.conditions.length === 0) return true
  const { authorizer } = using
  const evaluate = ({ object, oldObject }: VersionedObjects): boolean | Promise<boolean> => {
    const request = () => createAdmissionRequest(attributes, matched)
    const inputs = { attributes, object, oldObject, request, authorize: authorizer.decide }
    const result = authorizer.run(() => matchConditions(webhook.conditions, inputs, webhook.failurePolicy))
    return result instanceof Promise ? result.then(readResult) : readResult(result)
  }
  const readResult = (result: ConditionResult): boolean => {
    if ('error' in result) throw newForbidden(attributes.resource.info, attributes.name, result.error)
    return result.matches
  }
  const objects = using.objects()
  return objects instanceof Promise ? objects.then(evaluate) : evaluate(objects)
}

/** The outcome of a call. A failure is subject to the webhook's failure policy. */
export type CallOutcome =
  | { readonly ok: true; readonly answer: ReviewAnswer }
  | { readonly ok: false; readonly reason: string }

/**
 * Calls a webhook, and passes on its warnings and audit annotations. Throws a 400 for a dry run when the webhook has side
 * effects, whatever its failure policy.
 */
export async function callWebhook(
  attributes: Attributes,
  candidate: Candidate,
  { objects, mutating }: { readonly objects: VersionedObjects; readonly mutating: boolean },
): Promise<CallOutcome> {
  const { webhook } = candidate
  const { server } = attributes
  const fail = (reason: string): CallOutcome => ({
    ok: false,
    reason: `failed calling webhook ${JSON.stringify(webhook.name)}: ${reason}`,
  })
  if (attributes.dryRun) {
    if (webhook.sideEffects === undefined) return fail('Webhook SideEffects is nil')
    if (webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun')
      throw newBadRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`)
  }
  const version = chooseVersion(webhook.reviewVersions)
  if (!version) {
    const problem = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)'
    return fail(`could not create admission objects: ${problem}`)
  }
  const question = { uid: server.env.random.uuid(), version, objects }
  const span = startSpan(attributes, candidate, mutating ? 'mutating' : 'validating')
  const result = await server.webhooks.post({
    config: webhook.clientConfig,
    body: encodeReview(attributes, candidate, question),
    query: `timeout=${webhook.timeoutSeconds}s`,
    timeout: webhook.timeoutSeconds * 1000,
    plugin: mutating ? 'MutatingAdmissionWebhook' : 'ValidatingAdmissionWebhook',
    ...(attributes.signal && { signal: attributes.signal }),
    trace: span ? span.context : attributes.trace,
  })
  if (span) endCall(span, result)
  if (!result.ok) return fail(`failed to call webhook: ${result.reason}`)
  const read = readReview(result.body, { ...question, mutating })
  if (!read.ok)
    return fail(
      `${read.malformed ? 'failed to call webhook' : 'received invalid webhook response'}: ${read.problem}`,
    )
  for (const [key, value] of Object.entries(read.answer.auditAnnotations))
    attributes.annotate?.(`${webhook.name}/${key}`, value)
  for (const text of read.answer.warnings) attributes.warn?.(text)
  return read
}

function startSpan(
  { server, span: parent, operation, resource, subresource }: Attributes,
  { webhook }: Candidate,
  type: 'mutating' | 'validating',
): Span | undefined {
  const { tracer } = server.env
  if (!tracer || !parent) return undefined
  return tracer.startSpan(`Call ${type} webhook`, {
    kind: 'client',
    parent,
    attributes: {
      configuration: webhook.configuration,
      webhook: webhook.name,
      resource: resource.info.resource,
      subresource,
      operation,
    },
  })
}
