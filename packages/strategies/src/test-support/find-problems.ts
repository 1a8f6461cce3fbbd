import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Strategy, StrategyContext } from '../strategy.ts'

const context = {} as StrategyContext

/** The errors of a strategy about a new object, or about an update of `old`, as `field: message`. For tests. */
export function findProblems(strategy: Strategy, object: JsonObject, old?: JsonObject): string[] {
  strategy.default?.(object)
  const errors = [
    ...(strategy.validate?.(object, context, old) ?? []),
    ...(old ? (strategy.validateUpdate?.(object, old, context) ?? []) : []),
  ]
  return errors.map(({ field, body }) => `${field}: ${body}`)
}
