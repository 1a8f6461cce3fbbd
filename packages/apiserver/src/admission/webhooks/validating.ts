import { newInternalError } from '@coxswain/apimachinery/status'
import type { AdmissionPlugin } from '../admission.ts'
import { isAdmissionConfiguration } from '../admission-request.ts'
import type { Attributes } from '../attributes.ts'
import { RequestAuthorizer } from '../expressions/request-authorizer.ts'
import { convertObjects, type VersionedObjects } from '../versions.ts'
import { callWebhook, isCalled } from './call.ts'
import { denial } from './review.ts'
import { type Candidate, WebhookSource } from './webhook.ts'

/** Calls the webhooks of ValidatingWebhookConfigurations in parallel; one denial is enough. */
export const validatingAdmissionWebhook: AdmissionPlugin = {
  name: 'ValidatingAdmissionWebhook',
  forServer(server) {
    const source = new WebhookSource(server, 'validatingwebhookconfigurations')
    return {
      validate(attributes) {
        if (isAdmissionConfiguration(attributes)) return
        const candidates = source.candidates(attributes)
        return candidates.length === 0 ? undefined : dispatch(attributes, candidates)
      },
    }
  },
}

async function dispatch(attributes: Attributes, candidates: readonly Candidate[]): Promise<void> {
  const authorizer = new RequestAuthorizer(attributes)
  const versions = new Map<string, VersionedObjects | Promise<VersionedObjects>>()
  const objectsFor = ({ matched }: Candidate): VersionedObjects | Promise<VersionedObjects> => {
    const { group, version } = matched.resource
    const key = `${group}/${version}`
    let converted = versions.get(key)
    if (!converted) {
      converted = convertObjects(attributes, matched)
      versions.set(key, converted)
    }
    return converted
  }
  const called: Candidate[] = []
  for (const candidate of candidates) {
    let isWanted = isCalled(attributes, candidate, { authorizer, objects: () => objectsFor(candidate) })
    if (typeof isWanted !== 'boolean') isWanted = await isWanted
    if (isWanted) called.push(candidate)
  }
  if (called.length === 0) return
  const answers = await Promise.allSettled(
    called.map(
      async (candidate, index) => await ask(attributes, candidate, await objectsFor(candidate), index),
    ),
  )
  for (const answer of answers) if (answer.status === 'rejected') throw answer.reason
}

/** Throws when the webhook denies, or when the call fails and the failure policy is Fail. */
async function ask(
  ...[attributes, candidate, objects, index]: [Attributes, Candidate, VersionedObjects, number]
): Promise<void> {
  const { webhook } = candidate
  const outcome = await callWebhook(attributes, candidate, { objects, mutating: false })
  if (outcome.ok) {
    if (!outcome.answer.allowed) throw denial(webhook.name, outcome.answer.result)
    return
  }
  if (webhook.failurePolicy === 'Fail') throw newInternalError(outcome.reason)
  attributes.server.env.log.warn('failed calling webhook, failing open', {
    webhook: webhook.name,
    reason: outcome.reason,
  })
  attributes.annotate?.(
    `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`,
    webhook.name,
  )
}
