import { deepClone, deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import type { AdmissionPlugin } from '../admission.ts'
import { createAdmissionRequest } from '../admission-request.ts'
import type { Attributes } from '../attributes.ts'
import { namespaceOf } from '../create-attributes.ts'
import type { Inputs } from '../expressions/activation.ts'
import { matchConditions } from '../expressions/match-conditions.ts'
import { RequestAuthorizer } from '../expressions/request-authorizer.ts'
import type { Equivalent } from '../matching/equivalents.ts'
import type { Reinvocation } from '../reinvocation.ts'
import { convertObjects, takeOver } from '../versions.ts'
import { matchResources } from './match-resources.ts'
import { applyMutation, compileMutatingPolicy, evaluateMutation, type MutatingPolicy } from './mutation.ts'
import { collectParams } from './params.ts'
import { denied, forbidden, isSpared, readNamespaceObject } from './policy-request.ts'
import { type Binding, type PolicyHook, PolicySource } from './policy-source.ts'

const name = 'MutatingAdmissionPolicy'

/** Applies the bound MutatingAdmissionPolicies in the order of their names. Deletes are not mutated. */
export const mutatingAdmissionPolicy: AdmissionPlugin = {
  name,
  forServer(server) {
    const source = new PolicySource(server, 'mutatingadmissionpolicy', compileMutatingPolicy)
    return {
      mutate(attributes, reinvocation) {
        if (attributes.operation === 'DELETE' || isSpared(attributes)) return
        const hooks = source.candidates(attributes)
        return hooks.length === 0 ? undefined : dispatch(attributes, hooks, reinvocation)
      },
    }
  },
}

/** A policy with one of its bindings and one parameter object. */
interface Invocation {
  readonly policy: MutatingPolicy
  readonly binding: Binding
  readonly matched: Equivalent
  readonly params: JsonObject | undefined
}

interface PolicyError {
  readonly policy: MutatingPolicy
  readonly binding: Binding | undefined
  readonly message: string
  readonly reason?: string
}

async function dispatch(
  attributes: Attributes,
  hooks: readonly PolicyHook<MutatingPolicy>[],
  reinvocation: Reinvocation,
): Promise<void> {
  const errors: PolicyError[] = []
  const invocations: Invocation[] = []
  for (const hook of hooks)
    for (const item of await invocationsOf(attributes, hook, errors)) invocations.push(item)
  if (invocations.length > 0) await invokeAll(attributes, invocations, reinvocation, errors)
  const counted = errors.filter(({ policy }) => policy.failurePolicy === 'Fail')
  const [first] = counted
  if (!first) return
  throw denied(forbidden(attributes, ''), {
    message: describe(first),
    reason: first.reason ?? 'Forbidden',
    code: 403,
    causes: counted.map(describe),
  })
}

function describe({ policy, binding, message }: PolicyError): string {
  return binding
    ? `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`
    : `policy ${JSON.stringify(policy.name)} denied request: ${message}`
}

async function invocationsOf(
  attributes: Attributes,
  { policy, bindings, paramEndpoint, error }: PolicyHook<MutatingPolicy>,
  errors: PolicyError[],
): Promise<Invocation[]> {
  const refuse = (what: 'policy' | 'binding', problem: string, binding?: Binding) =>
    void errors.push({ policy, binding, message: `failed to configure ${what}: ${problem}` })
  if (!policy.constraints) {
    refuse('policy', 'policy contained no match constraints, a required field')
    return []
  }
  const matched = matchResources(attributes, policy.constraints)
  if (!matched) return []
  if (error !== undefined) {
    refuse('policy', error)
    return []
  }
  const invocations: Invocation[] = []
  for (const binding of bindings) {
    if (binding.resources && !matchResources(attributes, binding.resources)) continue
    const collected = await collectParams(paramEndpoint, binding.paramRef, namespaceOf(attributes))
    if (!collected.ok) refuse('binding', collected.error, binding)
    else for (const params of collected.params) invocations.push({ policy, binding, matched, params })
  }
  return invocations
}

async function invokeAll(
  ...[attributes, invocations, reinvocation, errors]: [
    Attributes,
    readonly Invocation[],
    Reinvocation,
    PolicyError[],
  ]
): Promise<void> {
  const hooks = reinvocation.hooksOf(name)
  if (reinvocation.isSecond && hooks.isChanged(attributes.object)) hooks.requireAll()
  const namespaceObject = readNamespaceObject(attributes)
  const authorizer = new RequestAuthorizer(attributes)
  for (const invocation of invocations) {
    const { policy, binding, matched, params } = invocation
    const objects = await convertObjects(attributes, matched)
    const inputs: Inputs = {
      ...objects,
      attributes,
      params,
      request: () => createAdmissionRequest(attributes, matched),
      authorize: authorizer.decide,
      variables: policy.variables,
    }
    if (policy.conditions.length > 0) {
      const result = await authorizer.run(() =>
        matchConditions(policy.conditions, inputs, policy.failurePolicy),
      )
      if ('error' in result) {
        errors.push({ policy, binding, message: result.error, reason: 'Invalid' })
        continue
      }
      if (!result.matches) continue
    }
    const key = keyOf(invocation)
    if (reinvocation.isSecond && !hooks.isRequired(key)) continue
    if (objects.object) {
      const changed = await invoke(invocation, { ...inputs, namespaceObject }, authorizer, errors)
      if (changed) {
        hooks.requireAll()
        reinvocation.want()
      }
    }
    if (policy.isReinvocable) hooks.add(key)
  }
  hooks.remember(attributes.object)
}

/** Applies a policy's mutations in order; returns whether the object changed. A failing mutation changes nothing. */
async function invoke(
  ...[{ policy, binding, matched }, inputs, authorizer, errors]: [
    Invocation,
    Inputs,
    RequestAuthorizer,
    PolicyError[],
  ]
): Promise<boolean> {
  const { attributes } = inputs
  const before = inputs.object!
  let object = before
  for (const mutation of policy.mutations) {
    const evaluated = await authorizer.run(() => evaluateMutation(mutation, { ...inputs, object }))
    const result = evaluated.ok
      ? applyMutation(attributes, matched, deepClone(object), mutation, evaluated.value)
      : evaluated
    if (result.ok) object = result.object
    else errors.push({ policy, binding, message: result.error, reason: 'Invalid' })
  }
  if (deepEqual(before, object)) return false
  await takeOver(attributes, matched, object)
  return true
}

function keyOf({ policy, binding, params }: Invocation): string {
  const { namespace = '', name: param = '' } = (params?.metadata ?? {}) as {
    namespace?: string
    name?: string
  }
  return `${policy.name}/${binding.name}/${namespace}/${param}`
}
