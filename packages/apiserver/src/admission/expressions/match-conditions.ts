import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import {
  type CompiledExpression,
  compileAdmissionExpression,
  type ExpressionOptions,
} from '@coxswain/strategies'
import { budgets, evaluateAll, type Inputs } from './activation.ts'

/** Compiles `matchConditions`; one that does not compile fails when it is evaluated. */
export function compileConditions(
  conditions: unknown,
  options: ExpressionOptions,
): readonly CompiledExpression[] {
  if (!Array.isArray(conditions)) return []
  return conditions
    .filter(isObject)
    .map((condition: JsonObject) =>
      compileAdmissionExpression(String(condition.expression ?? ''), 'bool', options),
    )
}

export type ConditionResult =
  | { readonly matches: boolean }
  /** One failed to evaluate, and none was false. */
  | { readonly error: string }

/** A false condition skips the request, whatever the others say; errors are subject to the failure policy. */
export function matchConditions(
  conditions: readonly CompiledExpression[],
  inputs: Inputs,
  failurePolicy: 'Fail' | 'Ignore',
): ConditionResult {
  const evaluated = evaluateAll(conditions, inputs, budgets.conditions)
  if (!evaluated.ok) return failurePolicy === 'Fail' ? { error: evaluated.error } : { matches: false }
  const errors: string[] = []
  for (const result of evaluated.results) {
    if (!result) continue
    if (!result.ok) errors.push(result.error)
    else if (result.value === false) return { matches: false }
  }
  if (errors.length === 0) return { matches: true }
  if (failurePolicy === 'Ignore') return { matches: false }
  const unique = [...new Set(errors)]
  return { error: unique.length === 1 ? unique[0]! : `[${unique.join(', ')}]` }
}
