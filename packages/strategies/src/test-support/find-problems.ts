import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Strategy, StrategyContext } from '../strategy.ts'

const context = {} as StrategyContext

/** What a strategy has against a new object, or against the change of an old one, as `field: message`. For tests. */
export function findProblems(strategy: Strategy, object: JsonObject, old?: JsonObject): string[] {
  strategy.default?.(object)
  const errors = [
    ...(strategy.validate?.(object, context, old) ?? []),
    ...(old ? (strategy.validateUpdate?.(object, old, context) ?? []) : []),
  ]
  return errors.map(({ field, body }) => `${field}: ${body}`)
}
