import type { JsonObject } from '@coxswain/apimachinery/json'
import type { AdmissionPlugin } from '../admission.ts'
import { createAdmissionRequest } from '../admission-request.ts'
import type { Attributes } from '../attributes.ts'
import { namespaceOf } from '../create-attributes.ts'
import { RequestAuthorizer } from '../expressions/request-authorizer.ts'
import type { Equivalent } from '../matching/equivalents.ts'
import { convertObjects, type VersionedObjects } from '../versions.ts'
import { matchResources } from './match-resources.ts'
import { collectParams } from './params.ts'
import { denied, forbidden, isSpared, readNamespaceObject } from './policy-request.ts'
import { type Binding, type PolicyHook, PolicySource } from './policy-source.ts'
import {
  compileValidatingPolicy,
  type Decision,
  evaluatePolicy,
  type ValidatingPolicy,
} from './validation.ts'

/** Evaluates the bound ValidatingAdmissionPolicies; the first denial, by name, is reported. */
export const validatingAdmissionPolicy: AdmissionPlugin = {
  name: 'ValidatingAdmissionPolicy',
  forServer(server) {
    const source = new PolicySource(server, 'validatingadmissionpolicy', compileValidatingPolicy)
    return {
      validate(attributes) {
        if (isSpared(attributes)) return
        const hooks = source.candidates(attributes)
        return hooks.length === 0 ? undefined : dispatch(attributes, hooks)
      },
    }
  },
}

interface Refusal {
  readonly policy: ValidatingPolicy
  readonly binding: Binding | undefined
  readonly message: string
  readonly reason: string | undefined
}

const longestAnnotation = 10 * 1024
const codes: Readonly<Record<string, number>> = {
  __proto__: null as never,
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
}

async function dispatch(
  attributes: Attributes,
  hooks: readonly PolicyHook<ValidatingPolicy>[],
): Promise<void> {
  const authorizer = new RequestAuthorizer(attributes)
  const refusals: Refusal[] = []
  for (const hook of hooks) for (const item of await ask(attributes, hook, authorizer)) refusals.push(item)
  const [first] = refusals
  if (!first) return
  const { policy, binding, message, reason = 'Invalid' } = first
  const by = binding ? `'${policy.name}' with binding '${binding.name}'` : `'${policy.name}'`
  const text = `ValidatingAdmissionPolicy ${by} denied request: ${message}`
  throw denied(forbidden(attributes, text), { reason, code: codes[reason] ?? 422, causes: [text] })
}

/** The violations of one policy. */
async function ask(
  attributes: Attributes,
  hook: PolicyHook<ValidatingPolicy>,
  authorizer: RequestAuthorizer,
): Promise<Refusal[]> {
  const { policy } = hook
  const refusals: Refusal[] = []
  const refuseSetup = (what: 'policy' | 'binding', error: string, binding?: Binding) => {
    if (policy.failurePolicy === 'Ignore') return
    refusals.push({ policy, binding, message: `failed to configure ${what}: ${error}`, reason: undefined })
  }
  if (!policy.constraints) {
    refuseSetup('policy', 'policy contained no match constraints, a required field')
    return refusals
  }
  const matched = matchResources(attributes, policy.constraints)
  if (!matched) return refusals
  if (hook.error !== undefined) {
    refuseSetup('policy', hook.error)
    return refusals
  }
  const notes = new Map<string, Set<string>>()
  let objects: VersionedObjects | undefined
  for (const binding of hook.bindings) {
    if (binding.resources && !matchResources(attributes, binding.resources)) continue
    const collected = await collectParams(hook.paramEndpoint, binding.paramRef, namespaceOf(attributes))
    if (!collected.ok) {
      refuseSetup('binding', collected.error, binding)
      continue
    }
    objects ??= await convertObjects(attributes, matched)
    for (const params of collected.params) {
      const inputs = inputsOf(attributes, matched, objects, params)
      const { decisions, annotations } = await authorizer.run(() =>
        evaluatePolicy(policy, { ...inputs, authorize: authorizer.decide }),
      )
      for (const [index, decision] of decisions.entries()) {
        if (decision.denied && enforce(attributes, policy, binding, { decision, index }))
          refusals.push({ policy, binding, message: decision.message, reason: decision.reason })
      }
      for (const annotation of annotations) {
        if ('error' in annotation)
          refusals.push({ policy, binding, message: annotation.error, reason: undefined })
        else {
          const values = notes.get(annotation.key) ?? new Set()
          notes.set(annotation.key, values.add(annotation.value.slice(0, longestAnnotation)))
        }
      }
    }
  }
  for (const [key, values] of notes) attributes.annotate?.(`${policy.name}/${key}`, [...values].join(', '))
  return refusals
}

function inputsOf(
  ...[attributes, matched, objects, params]: [
    Attributes,
    Equivalent,
    VersionedObjects,
    JsonObject | undefined,
  ]
) {
  return {
    ...objects,
    attributes,
    params,
    request: () => createAdmissionRequest(attributes, matched),
    namespaceObject: readNamespaceObject(attributes),
  }
}

/** Warns and audits as the binding's validationActions say; returns whether to deny the request. */
function enforce(
  attributes: Attributes,
  policy: ValidatingPolicy,
  { name, validationActions }: Binding,
  { decision, index }: { readonly decision: Decision & { denied: true }; readonly index: number },
): boolean {
  const { message } = decision
  if (validationActions.includes('Warn'))
    attributes.warn?.(
      `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${name}': ${message}`,
    )
  if (validationActions.includes('Audit')) {
    const failure = {
      message,
      policy: policy.name,
      binding: name,
      expressionIndex: index,
      validationActions,
    }
    attributes.annotate?.('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]))
  }
  return validationActions.includes('Deny')
}
