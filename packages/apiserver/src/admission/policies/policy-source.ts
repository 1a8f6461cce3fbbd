import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type CompiledExpression, type ExpressionOptions, PolicyVariables } from '@coxswain/strategies'
import { CachedView } from '../../cache/cached-view.ts'
import type { Endpoint } from '../../registry/registry.ts'
import type { Attributes } from '../attributes.ts'
import { isNamespaceResource } from '../create-attributes.ts'
import { compileConditions } from '../expressions/match-conditions.ts'
import type { AdmissionPorts } from '../ports.ts'
import { type MatchResources, mayMatch, readMatchResources } from './match-resources.ts'
import {
  findParamEndpoint,
  type ParamKind,
  type ParamRef,
  readParamKind,
  unknownParamKind,
} from './params.ts'

/** What both kinds of policies have. */
export interface Policy {
  readonly name: string
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly constraints: MatchResources | undefined
  readonly paramKind: ParamKind | undefined
  readonly variables: PolicyVariables
  readonly conditions: readonly CompiledExpression[]
}

export interface Binding {
  readonly name: string
  readonly resources: MatchResources | undefined
  readonly paramRef: ParamRef | undefined
  readonly validationActions: readonly string[]
}

/** A policy with a binding. */
export interface PolicyHook<P extends Policy> {
  readonly policy: P
  readonly bindings: readonly Binding[]
  readonly paramEndpoint: Endpoint | undefined
  /** Why the policy cannot be used. */
  readonly error: string | undefined
}

interface Hooks<P extends Policy> {
  readonly all: readonly PolicyHook<P>[]
  readonly byRequest: Map<string, readonly PolicyHook<P>[]>
}

/** The bound policies of one kind, by name. A compiled policy is kept until it changes. */
export class PolicySource<P extends Policy> {
  readonly #server: AdmissionPorts
  readonly #prefix: { readonly policies: string; readonly bindings: string }
  readonly #compile: (name: string, spec: JsonObject) => P
  readonly #compiled = new Map<string, { readonly revision: number; readonly policy: P }>()
  readonly #view: CachedView<Hooks<P>>

  constructor(
    server: AdmissionPorts,
    kind: 'mutatingadmissionpolicy' | 'validatingadmissionpolicy',
    compile: (name: string, spec: JsonObject) => P,
  ) {
    const group = '/admissionregistration.k8s.io'
    this.#server = server
    this.#compile = compile
    this.#prefix = {
      policies: `${group}/${kind.slice(0, -1)}ies/`,
      bindings: `${group}/${kind}bindings/`,
    }
    this.#view = new CachedView(server, Object.values(this.#prefix), () => ({
      all: this.#read(),
      byRequest: new Map(),
    }))
  }

  /** The policies that may match the request, names and selectors aside. Like requests get the same list. */
  candidates(attributes: Attributes): readonly PolicyHook<P>[] {
    const { all, byRequest } = this.#view.value
    if (all.length === 0) return all
    const { operation, resource, version, subresource } = attributes
    const namespaced = attributes.namespace !== '' && !isNamespaceResource(attributes)
    const key = `${operation} ${resource.info.group}/${version.name}/${resource.info.resource}/${subresource} ${namespaced}`
    let found = byRequest.get(key)
    if (!found) {
      found = all.filter(({ policy }) => !policy.constraints || mayMatch(attributes, policy.constraints))
      byRequest.set(key, found)
    }
    return found
  }

  #read(): PolicyHook<P>[] {
    const bindings = new Map<string, Binding[]>()
    for (const stored of this.#server.cache.resource(this.#prefix.bindings).list()) {
      const spec = specOf(stored.parse())
      const policy = String(spec.policyName ?? '')
      const binding = readBinding(stored.name, spec)
      bindings.set(policy, [...(bindings.get(policy) ?? []), binding])
    }
    const hooks: PolicyHook<P>[] = []
    const policies = this.#server.cache.resource(this.#prefix.policies)
    for (const name of this.#compiled.keys())
      if (!policies.get(this.#prefix.policies + name)) this.#compiled.delete(name)
    for (const stored of policies.list()) {
      const bound = bindings.get(stored.name)
      if (!bound) continue
      let compiled = this.#compiled.get(stored.name)
      if (compiled?.revision !== stored.revision) {
        compiled = { revision: stored.revision, policy: this.#compile(stored.name, specOf(stored.parse())) }
        this.#compiled.set(stored.name, compiled)
      }
      hooks.push(this.#hook(compiled.policy, bound))
    }
    return hooks
  }

  #hook(policy: P, bindings: readonly Binding[]): PolicyHook<P> {
    const paramEndpoint = policy.paramKind && findParamEndpoint(this.#server, policy.paramKind)
    const error = policy.paramKind && !paramEndpoint ? unknownParamKind(policy.paramKind) : undefined
    return { policy, bindings, paramEndpoint, error }
  }
}

function specOf({ spec }: JsonObject): JsonObject {
  return isObject(spec) ? spec : {}
}

function readBinding(name: string, spec: JsonObject): Binding {
  return {
    name,
    resources: readMatchResources(spec.matchResources),
    paramRef: isObject(spec.paramRef) ? (spec.paramRef as ParamRef) : undefined,
    validationActions: (spec.validationActions ?? []) as string[],
  }
}

/** Parses and compiles the parts that both kinds of policies have; `options` is for the rest. */
export function compilePolicy(
  name: string,
  spec: JsonObject,
): Policy & { readonly options: ExpressionOptions } {
  const paramKind = readParamKind(spec.paramKind)
  const variables = new PolicyVariables()
  const options = { params: paramKind !== undefined, authorizer: true, variables }
  for (const variable of Array.isArray(spec.variables) ? spec.variables.filter(isObject) : [])
    variables.add(String(variable.name), String(variable.expression), options)
  return {
    name,
    failurePolicy: spec.failurePolicy === 'Ignore' ? 'Ignore' : 'Fail',
    constraints: readMatchResources(spec.matchConstraints),
    paramKind,
    variables,
    conditions: compileConditions(spec.matchConditions, options),
    options,
  }
}
