import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { CompiledExpression } from '@coxswain/strategies'
import { CachedView } from '../../cache/cached-view.ts'
import type { WebhookClientConfig } from '../../outbound/webhook-client.ts'
import type { Attributes } from '../attributes.ts'
import { isNamespaceResource } from '../create-attributes.ts'
import { compileConditions } from '../expressions/match-conditions.ts'
import { type Equivalent, otherResources, ownResource } from '../matching/equivalents.ts'
import { matchesRule, type Rule, type RuleSubject } from '../matching/rules.ts'
import { readSelectors, type Selectors } from '../matching/selectors.ts'
import type { AdmissionPorts } from '../ports.ts'

/** One webhook of a configuration. */
export interface Webhook {
  /** Unlike the name, unique. */
  readonly id: string
  readonly configuration: string
  readonly name: string
  /** Its position among all webhooks of its kind. */
  readonly index: number
  readonly clientConfig: WebhookClientConfig
  readonly rules: readonly Rule[]
  readonly matchPolicy: string
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly selectors: Selectors
  readonly conditions: readonly CompiledExpression[]
  readonly sideEffects: string | undefined
  readonly timeoutSeconds: number
  readonly reviewVersions: readonly string[]
  readonly isReinvocable: boolean
}

/** A webhook whose rules match a request, and the resource that the rule matched. */
export interface Candidate {
  readonly webhook: Webhook
  readonly matched: Equivalent
}

const defaultTimeout = 10

/** The webhooks of one kind of configuration, in the order in which they are called: by name, then as listed. */
export class WebhookSource {
  readonly #server: AdmissionPorts
  readonly #prefix: string
  readonly #view: CachedView<{
    readonly webhooks: readonly Webhook[]
    readonly byRequest: Map<string, Candidate[]>
  }>

  constructor(
    server: AdmissionPorts,
    resource: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations',
  ) {
    this.#server = server
    this.#prefix = `/admissionregistration.k8s.io/${resource}/`
    this.#view = new CachedView(server, [this.#prefix], () => ({
      webhooks: this.#read(),
      byRequest: new Map(),
    }))
  }

  /** The webhooks whose rules match the request; selectors and conditions are not evaluated. Like requests get the same list. */
  candidates(attributes: Attributes): readonly Candidate[] {
    const { webhooks, byRequest } = this.#view.value
    if (webhooks.length === 0) return []
    const { operation, resource, version, subresource, kind } = attributes
    const key = `${operation} ${resource.info.group}/${version.name}/${resource.info.resource}/${subresource} ${kind?.kind ?? ''} ${isInNamespace(attributes)}`
    let found = byRequest.get(key)
    if (!found) {
      found = webhooks.flatMap(webhook => {
        const matched = findMatch(webhook, attributes)
        return matched ? [{ webhook, matched }] : []
      })
      byRequest.set(key, found)
    }
    return found
  }

  #read(): Webhook[] {
    const webhooks: Webhook[] = []
    for (const stored of this.#server.cache.resource(this.#prefix).list()) {
      const { webhooks: listed } = stored.parse()
      const names = new Map<string, number>()
      for (const hook of Array.isArray(listed) ? listed.filter(isObject) : []) {
        const name = String(hook.name ?? '')
        const repeated = names.get(name) ?? 0
        names.set(name, repeated + 1)
        webhooks.push(readWebhook(hook, `${stored.name}/${name}/${repeated}`, stored.name, webhooks.length))
      }
    }
    return webhooks
  }
}

function readWebhook(hook: JsonObject, id: string, configuration: string, index: number): Webhook {
  return {
    id,
    configuration,
    index,
    name: String(hook.name ?? ''),
    clientConfig: (hook.clientConfig ?? {}) as WebhookClientConfig,
    rules: (Array.isArray(hook.rules) ? hook.rules : []) as Rule[],
    matchPolicy: String(hook.matchPolicy ?? 'Equivalent'),
    failurePolicy: hook.failurePolicy === 'Ignore' ? 'Ignore' : 'Fail',
    selectors: readSelectors(hook),
    conditions: compileConditions(hook.matchConditions, { authorizer: true }),
    sideEffects: hook.sideEffects as string | undefined,
    timeoutSeconds: typeof hook.timeoutSeconds === 'number' ? hook.timeoutSeconds : defaultTimeout,
    reviewVersions: (hook.admissionReviewVersions ?? []) as string[],
    isReinvocable: hook.reinvocationPolicy === 'IfNeeded',
  }
}

/** Whether the request is for an object in a namespace; a Namespace is not. */
function isInNamespace(attributes: Attributes): boolean {
  return attributes.namespace !== '' && !isNamespaceResource(attributes)
}

/** The request's own resource when a rule names it; otherwise, unless matchPolicy is Exact, an equivalent resource. */
function findMatch(webhook: Webhook, attributes: Attributes): Equivalent | undefined {
  const { operation, subresource } = attributes
  const namespaced = isInNamespace(attributes)
  const subject = ({ resource }: Equivalent): RuleSubject => ({
    operation,
    resource,
    subresource,
    namespaced,
  })
  const own = ownResource(attributes)
  if (webhook.rules.some(rule => matchesRule(rule, subject(own)))) return own
  if (webhook.matchPolicy !== 'Equivalent') return undefined
  const others = otherResources(attributes)
  for (const rule of webhook.rules) {
    const found = others.find(other => matchesRule(rule, subject(other)))
    if (found) return found
  }
  return undefined
}
