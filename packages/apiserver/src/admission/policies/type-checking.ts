import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Schema } from '@coxswain/apimachinery/schema'
import { schemaVariable, type VariableDeclaration } from '@coxswain/cel'
import { compileAdmissionExpression, PolicyVariables } from '@coxswain/strategies'
import type { Endpoint, Registry } from '../../registry/registry.ts'
import type { AdmissionPorts } from '../ports.ts'
import { findParamEndpoint, readParamKind } from './params.ts'

/** An entry of `status.typeChecking.expressionWarnings`. */
export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

/** The maximum number of kinds that a policy is checked against. */
const mostKinds = 10

/**
 * Type errors in the expressions of a ValidatingAdmissionPolicy, for objects of the kinds that it names: a field that
 * does not exist, for instance. Wildcard rules are not checked.
 */
export function checkTypes(
  server: Pick<AdmissionPorts, 'registry'>,
  policy: JsonObject,
): ExpressionWarning[] {
  const spec = isObject(policy.spec) ? policy.spec : {}
  const kinds = kindsOf(server.registry, spec.matchConstraints)
  if (kinds.length === 0) return []
  const paramKind = readParamKind(spec.paramKind)
  const params = paramKind && findParamEndpoint(server, paramKind)
  const scopes = kinds.map(
    endpoint => new Scope(endpoint, spec, { hasParams: paramKind !== undefined, params }),
  )
  const warnings: ExpressionWarning[] = []
  const check = (fieldRef: string, source: unknown) => {
    if (typeof source !== 'string' || source === '') return
    const found = scopes.flatMap(scope => scope.check(source))
    if (found.length > 0) warnings.push({ fieldRef, warning: found.join('\n') })
  }
  const validations = Array.isArray(spec.validations) ? spec.validations.filter(isObject) : []
  for (const [index, { expression, messageExpression }] of validations.entries()) {
    check(`spec.validations[${index}].expression`, expression)
    check(`spec.validations[${index}].messageExpression`, messageExpression)
  }
  return warnings
}

/** The kinds that rules name without a wildcard, by group, version and kind. */
function kindsOf(registry: Registry, constraints: unknown): Endpoint[] {
  const rules =
    isObject(constraints) && Array.isArray(constraints.resourceRules) ? constraints.resourceRules : []
  const found = new Map<string, Endpoint>()
  for (const rule of rules.filter(isObject)) {
    const groups = namesOf(rule.apiGroups)
    const versions = namesOf(rule.apiVersions)
    if ([...groups, ...versions].some(name => name.includes('*'))) continue
    const resources = namesOf(rule.resources).filter(name => !/[*/]/.test(name))
    let count = 0
    for (const group of groups.sort())
      for (const version of versions.sort())
        for (const resource of resources.sort()) {
          const endpoint = registry.find(group, version, resource)
          if (!endpoint || count++ >= mostKinds) continue
          found.set(`${group}\0${version}\0${endpoint.resource.info.kind}`, endpoint)
        }
  }
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint)
}

function namesOf(list: unknown): string[] {
  return Array.isArray(list) ? list.map(String) : []
}

/** The declarations for objects of one kind. */
class Scope {
  readonly #kind: string
  readonly #types: Record<string, VariableDeclaration> = {}
  readonly #hasParams: boolean
  readonly #variables = new PolicyVariables()

  constructor(
    { resource, version }: Endpoint,
    spec: JsonObject,
    { hasParams, params }: { readonly hasParams: boolean; readonly params: Endpoint | undefined },
  ) {
    const { group, kind } = resource.info
    this.#kind = `${group}/${version.name}, Kind=${kind}`
    this.#hasParams = hasParams
    const object = declare(version.schema())
    if (object) Object.assign(this.#types, { object, oldObject: object })
    const paramType = params && declare(params.version.schema())
    if (paramType) this.#types.params = paramType
    const variables = Array.isArray(spec.variables) ? spec.variables.filter(isObject) : []
    for (const { name, expression } of variables)
      this.#variables.add(String(name), String(expression), this.#options())
  }

  /** Type errors; empty when the expression type-checks. */
  check(source: string): string[] {
    const compiled = compileAdmissionExpression(source, 'any', {
      ...this.#options(),
      variables: this.#variables,
    })
    if (compiled.ok || compiled.issues === undefined || compiled.error.startsWith('program')) return []
    return [`${this.#kind}: ${compiled.issues}\n`]
  }

  #options() {
    return { params: this.#hasParams, authorizer: true, types: this.#types }
  }
}

function declare(schema: Schema): VariableDeclaration | undefined {
  return schemaVariable(schema, { isRoot: true })
}
