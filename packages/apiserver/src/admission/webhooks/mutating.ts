import { deepEqual, readJson } from '@coxswain/apimachinery/json'
import { applyJsonPatch, decodeJsonPatch, type JsonPatchOperation } from '@coxswain/apimachinery/patch'
import { newInternalError } from '@coxswain/apimachinery/status'
import type { AdmissionPlugin } from '../admission.ts'
import { isAdmissionConfiguration } from '../admission-request.ts'
import type { Attributes } from '../attributes.ts'
import { RequestAuthorizer } from '../expressions/request-authorizer.ts'
import type { Reinvocation } from '../reinvocation.ts'
import { convertObjects, readChanged, takeOver, type VersionedObjects } from '../versions.ts'
import { callWebhook, isCalled } from './call.ts'
import { denial } from './review.ts'
import { type Candidate, WebhookSource } from './webhook.ts'

const name = 'MutatingAdmissionWebhook'

/** Calls the webhooks of MutatingWebhookConfigurations one after the other; each sees the changes of those before it. */
export const mutatingAdmissionWebhook: AdmissionPlugin = {
  name,
  forServer(server) {
    const source = new WebhookSource(server, 'mutatingwebhookconfigurations')
    return {
      mutate(attributes, reinvocation) {
        if (isAdmissionConfiguration(attributes)) return
        const candidates = source.candidates(attributes)
        return candidates.length === 0 ? undefined : dispatch(attributes, candidates, reinvocation)
      },
    }
  },
}

async function dispatch(
  attributes: Attributes,
  candidates: readonly Candidate[],
  reinvocation: Reinvocation,
): Promise<void> {
  const hooks = reinvocation.hooksOf(name)
  const authorizer = new RequestAuthorizer(attributes)
  // In the second pass another plug-in may have changed the object since the last webhook saw it.
  if (reinvocation.isSecond && hooks.isChanged(attributes.object)) hooks.requireAll()
  let isAsked = reinvocation.isSecond
  for (const candidate of candidates) {
    const { webhook, matched } = candidate
    let converted: VersionedObjects | Promise<VersionedObjects> | undefined
    const objects = () => {
      converted ??= convertObjects(attributes, matched)
      return converted
    }
    let called = isCalled(attributes, candidate, { authorizer, objects })
    if (typeof called !== 'boolean') called = await called
    if (!called) continue
    if (reinvocation.isSecond && !hooks.isRequired(webhook.id)) continue
    isAsked = true
    const round = `round_${reinvocation.isSecond ? 1 : 0}_index_${webhook.index}`
    const changed = await ask(attributes, candidate, await objects(), round)
    if (changed) {
      hooks.requireAll()
      reinvocation.want()
    }
    if (webhook.isReinvocable) hooks.add(webhook.id)
  }
  if (isAsked) hooks.remember(attributes.object)
}

/** Whether the webhook changed the object. Throws when it denies, or when the call fails and the failure policy is Fail. */
async function ask(
  ...[attributes, candidate, objects, round]: [Attributes, Candidate, VersionedObjects, string]
): Promise<boolean> {
  const { webhook } = candidate
  const note = (mutated: boolean) => {
    const value = { configuration: webhook.configuration, webhook: webhook.name, mutated }
    attributes.annotate?.(`mutation.webhook.admission.k8s.io/${round}`, JSON.stringify(value))
    return mutated
  }
  const outcome = await callWebhook(attributes, candidate, { objects, mutating: true })
  let problem = outcome.ok ? undefined : outcome.reason
  if (outcome.ok) {
    const { allowed, result, patch } = outcome.answer
    if (!allowed) {
      note(false)
      throw denial(webhook.name, result)
    }
    const operations = patch ? readPatch(patch) : []
    if (typeof operations !== 'string') {
      return note(operations.length > 0 && (await applyPatch(attributes, candidate, objects, operations)))
    }
    problem = `failed calling webhook ${JSON.stringify(webhook.name)}: received undecodable patch in webhook response: ${operations}`
  }
  note(false)
  if (webhook.failurePolicy === 'Fail') throw newInternalError(problem!)
  attributes.server.env.log.warn('failed calling webhook, failing open', {
    webhook: webhook.name,
    reason: problem,
  })
  attributes.annotate?.(`failed-open.mutation.webhook.admission.k8s.io/${round}`, webhook.name)
  return false
}

/** The error text when it is not a valid JSON patch. */
function readPatch(bytes: Uint8Array): readonly JsonPatchOperation[] | string {
  try {
    return decodeJsonPatch(readJson(bytes).value)
  } catch (error) {
    return (error as Error).message
  }
}

async function applyPatch(
  ...[attributes, candidate, { object }, operations]: [
    Attributes,
    Candidate,
    VersionedObjects,
    readonly JsonPatchOperation[],
  ]
): Promise<boolean> {
  if (!object) {
    const { name } = candidate.webhook
    throw newInternalError(
      `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
    )
  }
  let patched: ReturnType<typeof readChanged>
  try {
    patched = readChanged(attributes, candidate.matched, applyJsonPatch(object, operations))
  } catch (error) {
    throw newInternalError(error as Error)
  }
  const changed = !deepEqual(object, patched)
  await takeOver(attributes, candidate.matched, patched)
  return changed
}
