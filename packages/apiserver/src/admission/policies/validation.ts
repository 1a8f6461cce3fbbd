import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type CompiledExpression, compileAdmissionExpression } from '@coxswain/strategies'
import { budgets, type ExpressionResult, evaluateAll, type Inputs } from '../expressions/activation.ts'
import { matchConditions } from '../expressions/match-conditions.ts'
import { compilePolicy, type Policy } from './policy-source.ts'

interface Validation {
  readonly expression: CompiledExpression
  readonly messageExpression: CompiledExpression | undefined
  readonly message: string
  readonly reason: string
}

interface AuditAnnotation {
  readonly key: string
  readonly source: string
  readonly expression: CompiledExpression
}

export interface ValidatingPolicy extends Policy {
  readonly validations: readonly Validation[]
  readonly auditAnnotations: readonly AuditAnnotation[]
}

export function compileValidatingPolicy(name: string, spec: JsonObject): ValidatingPolicy {
  const { options, ...policy } = compilePolicy(name, spec)
  const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
  return {
    ...policy,
    validations: list(spec.validations).map(validation => ({
      expression: compileAdmissionExpression(String(validation.expression), 'bool', options),
      messageExpression: validation.messageExpression
        ? compileAdmissionExpression(String(validation.messageExpression), 'string', {
            ...options,
            authorizer: false,
          })
        : undefined,
      message: String(validation.message ?? ''),
      reason: String(validation.reason ?? 'Invalid'),
    })),
    auditAnnotations: list(spec.auditAnnotations).map(annotation => ({
      key: String(annotation.key),
      source: String(annotation.valueExpression),
      expression: compileAdmissionExpression(String(annotation.valueExpression), 'stringOrNull', options),
    })),
  }
}

export type Decision =
  | { readonly denied: false }
  | { readonly denied: true; readonly message: string; readonly reason: string | undefined }

export type Annotation =
  | { readonly key: string; readonly value: string }
  /** The annotation failed to evaluate, which denies the request. */
  | { readonly error: string }

export interface PolicyResult {
  /** One per validation; a single one when they could not be evaluated. */
  readonly decisions: readonly Decision[]
  readonly annotations: readonly Annotation[]
}

const nothing: PolicyResult = { decisions: [], annotations: [] }
const longestMessage = 5 * 1024

/** Evaluates a policy with one parameter object. Errors are subject to the failure policy. */
export function evaluatePolicy(policy: ValidatingPolicy, inputs: Inputs): PolicyResult {
  const onError = (message: string): Decision =>
    policy.failurePolicy === 'Ignore' ? { denied: false } : { denied: true, message, reason: undefined }
  const failed = (message: string): PolicyResult => ({ decisions: [onError(message)], annotations: [] })
  const { variables, validations } = policy
  const { namespaceObject: _, ...bare } = inputs
  if (policy.conditions.length > 0) {
    const matched = matchConditions(policy.conditions, { ...bare, variables }, policy.failurePolicy)
    if ('error' in matched) return failed(matched.error)
    if (!matched.matches) return nothing
  }
  const sources = validations.map(({ expression }) => expression)
  const evaluated = evaluateAll(sources, { ...inputs, variables }, budgets.policy)
  if (!evaluated.ok) return failed(evaluated.error)
  const { authorize: _without, ...unauthorized } = inputs
  const messages = evaluateAll(
    validations.map(({ messageExpression }) => messageExpression),
    { ...unauthorized, variables },
    evaluated.left,
  )
  const decisions = evaluated.results.map((result, index): Decision => {
    const validation = validations[index]!
    if (!result?.ok) return onError(result?.error ?? '')
    if (!messages.ok) return onError(`failed messageExpression: ${messages.error}`)
    if (result.value === true) return { denied: false }
    const message = messageOf(validation, messages.results[index])
    return { denied: true, message, reason: validation.reason }
  })
  const annotations = evaluateAnnotations(policy, { ...unauthorized, variables })
  return typeof annotations === 'string' ? failed(annotations) : { decisions, annotations }
}

/** The result of the message expression, else the message, else the expression itself. */
function messageOf({ message, expression }: Validation, result: ExpressionResult | undefined): string {
  if (result?.ok && typeof result.value === 'string') {
    const text = result.value.trim()
    const isFit = text !== '' && text.length <= longestMessage && !text.includes('\n')
    if (isFit) return text
  }
  return message.trim() || `failed expression: ${expression.source.trim()}`
}

/** The error text when the expressions exceed their budget as a whole. */
function evaluateAnnotations(policy: ValidatingPolicy, inputs: Inputs): Annotation[] | string {
  const { auditAnnotations } = policy
  if (auditAnnotations.length === 0) return []
  const sources = auditAnnotations.map(({ expression }) => expression)
  const evaluated = evaluateAll(sources, inputs, budgets.policy)
  if (!evaluated.ok) return evaluated.error
  return evaluated.results.flatMap((result, index): Annotation[] => {
    const { key, source } = auditAnnotations[index]!
    if (!result?.ok) return policy.failurePolicy === 'Ignore' ? [] : [{ error: result?.error ?? '' }]
    if (result.value === null) return []
    if (typeof result.value !== 'string')
      return [
        {
          error: `valueExpression '${source}' resulted in unsupported return type. Return type must be either string or null.`,
        },
      ]
    const value = result.value.trim()
    return value === '' ? [] : [{ key, value }]
  })
}
