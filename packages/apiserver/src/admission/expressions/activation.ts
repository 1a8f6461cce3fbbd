import type { JsonObject } from '@coxswain/apimachinery/json'
import {
  type Authorize,
  authorizerValue,
  type Evaluation,
  fault,
  type MapValue,
  requestResourceValue,
  type Value,
} from '@coxswain/cel'
import type { CompiledExpression, PolicyVariables } from '@coxswain/strategies'
import type { Attributes } from '../attributes.ts'
import { namespaceOf } from '../create-attributes.ts'

/** The values that the expressions of one webhook or policy are evaluated with. */
export interface Inputs {
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
  /** An AdmissionRequest without the objects; created only when an expression reads it. */
  readonly request: () => JsonObject
  readonly namespaceObject?: JsonObject | undefined
  readonly params?: JsonObject | undefined
  readonly authorize?: Authorize
  readonly attributes: Attributes
  readonly variables?: PolicyVariables
}

/** The result of an expression; `value` is undefined where there was no expression. */
export type ExpressionResult =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: string }

/** The expressions exceed their cost budget as a whole. */
export const outOfBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run'

/** The cost budget of all expressions of one webhook or policy. */
export const budgets: { readonly conditions: number; readonly policy: number } = {
  conditions: 2_500_000,
  policy: 10_000_000,
}

export type Evaluated =
  | { readonly ok: true; readonly results: readonly (ExpressionResult | undefined)[]; readonly left: number }
  | { readonly ok: false; readonly error: string }

/**
 * Evaluates expressions in order with one set of values. A variable of the policy is computed once, when it is first
 * read, and its cost counts for the expression that read it. Fails as a whole when `budget` is exceeded. Undefined expressions are skipped.
 */
export function evaluateAll(
  expressions: readonly (CompiledExpression | undefined)[],
  inputs: Inputs,
  budget: number,
): Evaluated {
  const variables = inputs.variables && new LazyVariables(inputs.variables)
  const values = valuesOf(expressions, inputs, variables)
  if (variables) variables.values = values
  let left = budget
  const results: (ExpressionResult | undefined)[] = []
  for (const expression of expressions) {
    if (!expression) {
      results.push(undefined)
      continue
    }
    if (!expression.ok) {
      results.push({ ok: false, error: `compilation error: ${expression.error}` })
      continue
    }
    const evaluation = expression.program.evaluate(values)
    const cost = evaluation.cost + (variables?.takeCost() ?? 0)
    if (cost > left) return { ok: false, error: outOfBudget }
    left -= cost
    results.push(resultOf(expression.source, evaluation))
  }
  return { ok: true, results, left }
}

function resultOf(source: string, evaluation: Evaluation): ExpressionResult {
  if (evaluation.ok) return { ok: true, value: evaluation.value }
  return { ok: false, error: `expression '${source}' resulted in error: ${evaluation.error}` }
}

/** Only the values that the expressions read; all of them when there are variables, which may read any. */
function valuesOf(
  expressions: readonly (CompiledExpression | undefined)[],
  inputs: Inputs,
  variables: LazyVariables | undefined,
): Record<string, unknown> {
  const { object, oldObject, request, namespaceObject, params, authorize, attributes } = inputs
  const reads = (name: string) =>
    variables !== undefined || expressions.some(each => each?.ok && each.program.reads.includes(name))
  const values: Record<string, unknown> = {
    object: object ?? null,
    oldObject: oldObject ?? null,
    namespaceObject: namespaceObject ?? null,
    params: params ?? null,
  }
  if (variables) values.variables = variables
  if (reads('request')) values.request = request()
  if (authorize && reads('authorizer')) values.authorizer = authorizerValue(authorize)
  const own = 'authorizer.requestResource'
  if (authorize && reads(own)) values[own] = requestResourceValue(authorize, requestedResource(attributes))
  return values
}

function requestedResource(attributes: Attributes) {
  const { resource, subresource, name } = attributes
  return {
    group: resource.info.group,
    resource: resource.info.resource,
    subresource,
    namespace: namespaceOf(attributes),
    name,
  }
}

/** `variables`: each is computed when first read. */
class LazyVariables implements MapValue {
  readonly isMap = true as const
  values: Readonly<Record<string, unknown>> = {}
  readonly #variables: PolicyVariables
  readonly #known = new Map<string, Evaluation>()
  #cost = 0

  constructor(variables: PolicyVariables) {
    this.#variables = variables
  }

  get size(): number {
    return this.#variables.compiled.size
  }

  keys(): Value[] {
    return [...this.#variables.compiled.keys()]
  }

  get(key: Value): Value | undefined {
    const compiled = typeof key === 'string' ? this.#variables.compiled.get(key) : undefined
    if (!compiled) return undefined
    if (!compiled.ok) return fault(`composited variable "${key}" fails to compile: ${compiled.error}`)
    const name = key as string
    let evaluation = this.#known.get(name)
    if (!evaluation) {
      evaluation = compiled.program.evaluate(this.values)
      this.#cost += evaluation.cost
      this.#known.set(name, evaluation)
    }
    if (evaluation.ok) return evaluation.value
    return fault(`composited variable "${name}" fails to evaluate: ${evaluation.error}`)
  }

  /** The cost since the last call. */
  takeCost(): number {
    const cost = this.#cost
    this.#cost = 0
    return cost
  }
}
