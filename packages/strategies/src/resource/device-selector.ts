import { compileExpression, deviceEnvironment, deviceVariable, formatType } from '@coxswain/cel'

/** The most that a selector may cost, at worst and when it runs. */
export const selectorCostLimit = 1_000_000

export type SelectorProblem =
  | { readonly type: 'invalid' | 'internal'; readonly detail: string }
  | { readonly type: 'expensive' }

/** What is wrong with the CEL expression of a device selector. */
export function findSelectorProblem(expression: string): SelectorProblem | undefined {
  const variables = { device: deviceVariable }
  const compiled = compileExpression(expression, { variables, environment: deviceEnvironment() })
  if (!compiled.ok) {
    return compiled.stage === 'program'
      ? { type: 'internal', detail: `program instantiation failed: ${compiled.message}` }
      : { type: 'invalid', detail: `compilation failed: ${compiled.message}` }
  }
  if (compiled.type.kind !== 'bool' && compiled.type.kind !== 'dyn') {
    const detail = `must evaluate to bool or the unknown type, not ${formatType(compiled.type)}`
    return { type: 'invalid', detail }
  }
  return compiled.cost.max > selectorCostLimit ? { type: 'expensive' } : undefined
}
