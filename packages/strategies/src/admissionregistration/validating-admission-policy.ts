import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyStatus,
  Validation,
} from '@coxswain/api/admissionregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import type { Condition } from '@coxswain/apimachinery/meta'
import { validateConditions } from '@coxswain/apimachinery/validation'
import { encodeText } from '@coxswain/kit'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, countCell, nameCell } from '../shared/cells.ts'
import { type Findings, validateQualifiedName } from '../shared/reading.ts'
import { keepStatusMetadata } from '../shared/status-metadata.ts'
import type { Strategy } from '../strategy.ts'
import { compileAdmissionExpression, type ExpressionOptions } from './expressions/compile.ts'
import { validateExpression } from './expressions/validate.ts'
import {
  isBlank,
  policyStrategy,
  printParamKind,
  scopeOf,
  validateConditionsOf,
  validateSubject,
  validateVariables,
} from './policy.ts'

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const maxAuditAnnotations = 20
const maxValueExpression = 5 * 1024

export const validatingAdmissionPolicyStrategy: Strategy = defineStrategy<ValidatingAdmissionPolicy>({
  ...policyStrategy,
  validate: (object, _context, old) => validateValidatingPolicy(object, old),
  prepareForStatusUpdate: keepStatusMetadata,
  validateStatusUpdate: object => validateStatus(object.status ?? {}),
  cells: (object, now) => {
    const { validations, paramKind } = object.spec ?? {}
    return {
      Name: nameCell(object),
      Validations: countCell(validations),
      ParamKind: printParamKind(paramKind),
      Age: ageCell(object, now),
    }
  },
})

function* validateValidatingPolicy(
  object: Decoded<ValidatingAdmissionPolicy>,
  old: Decoded<ValidatingAdmissionPolicy> | undefined,
): Findings {
  const spec = object.spec ?? {}
  const path = field.Path.of('spec')
  yield* validateSubject(spec, path)
  yield* validateConditionsOf(spec, old, path)
  const scope = scopeOf(spec, (spec.variables ?? []).length > 0)
  yield* validateVariables(spec.variables, scope, path.child('variables'))
  const validations = spec.validations ?? []
  const annotations = spec.auditAnnotations ?? []
  if (validations.length === 0 && annotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item'
    yield field.required(path.child('validations'), detail)
    yield field.required(path.child('auditAnnotations'), detail)
    return
  }
  for (const [index, validation] of validations.entries())
    yield* validateValidation(validation, scope, path.child('validations').index(index))
  yield* validateAuditAnnotations(object, annotations, scope, path.child('auditAnnotations'))
}

function* validateValidation(
  validation: Decoded<Validation>,
  scope: ExpressionOptions,
  path: field.Path,
): Findings {
  const { message, messageExpression, reason } = validation
  const expression = validation.expression ?? ''
  if (isBlank(expression)) yield field.required(path.child('expression'), 'expression is not specified')
  else {
    const compiled = compileAdmissionExpression(expression, 'bool', scope)
    yield* validateExpression(compiled, path.child('expression'))
  }
  const messagePath = path.child('messageExpression')
  const source = messageExpression ?? ''
  if (source !== '' && isBlank(source))
    yield field.invalid(messagePath, messageExpression, 'must be non-empty if specified')
  else if (source !== '') {
    const compiled = compileAdmissionExpression(source, 'string', { ...scope, authorizer: false })
    yield* validateExpression(compiled, messagePath)
  }
  if ((message ?? '') !== '' && isBlank(message))
    yield field.invalid(path.child('message'), message, 'must be non-empty if specified')
  else if (/[\n\r]/.test((message ?? '').trim()))
    yield field.invalid(path.child('message'), message, 'must not contain line breaks')
  if (typeof reason === 'string' && !reasons.includes(reason))
    yield field.notSupported(path.child('reason'), reason, reasons)
}

function* validateAuditAnnotations(
  object: Decoded<ValidatingAdmissionPolicy>,
  annotations: readonly Decoded<AuditAnnotation>[],
  scope: ExpressionOptions,
  path: field.Path,
): Findings {
  const policy = object.metadata.name ?? ''
  const keys = new Set<string>()
  if (annotations.length > maxAuditAnnotations) {
    const printed = annotations.map(({ key, valueExpression }) => ({
      Key: key,
      ValueExpression: valueExpression,
    }))
    yield field.invalid(path, printed, `must not have more than ${maxAuditAnnotations} auditAnnotations`)
  }
  for (const [index, annotation] of annotations.entries()) {
    const at = path.index(index)
    const key = annotation.key ?? ''
    if (policy !== '') yield* validateQualifiedName(`${policy}/${key}`, at.child('key'))
    else yield field.invalid(at.child('key'), key, 'requires metadata.name be non-empty')
    const expression = (annotation.valueExpression ?? '').trim()
    if (expression === '')
      yield field.required(at.child('valueExpression'), 'valueExpression is not specified')
    else if (encodeText(expression).length > maxValueExpression)
      yield field.required(
        at.child('valueExpression'),
        `must not exceed ${maxValueExpression} bytes in length`,
      )
    else {
      const compiled = compileAdmissionExpression(expression, 'stringOrNull', scope)
      yield* validateExpression(compiled, at.child('valueExpression'), annotation.valueExpression ?? '')
    }
    if (keys.has(key)) yield field.duplicate(at.child('key'), key)
    keys.add(key)
  }
}

function* validateStatus(status: Decoded<ValidatingAdmissionPolicyStatus>): Findings {
  const path = field.Path.of('status')
  const warnings = status.typeChecking?.expressionWarnings ?? []
  for (const [index, { warning, fieldRef }] of warnings.entries()) {
    const at = path.child('typeChecking', 'expressionWarnings').index(index)
    if ((warning ?? '') === '') yield field.required(at.child('warning'))
    if (isBlank(fieldRef)) yield field.required(at.child('fieldRef'))
  }
  yield* validateConditions((status.conditions ?? []) as unknown as Condition[], path.child('conditions'))
}
