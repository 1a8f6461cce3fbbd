import type {
  AuditAnnotation,
  MutatingAdmissionPolicy,
  Mutation,
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  ValidatingAdmissionPolicyStatus,
  Validation,
  Variable,
} from '@coxswain/api/admissionregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { Condition } from '@coxswain/apimachinery/meta'
import { isDNS1035Label, isDNS1123Subdomain, validateConditions } from '@coxswain/apimachinery/validation'
import { encodeText } from '@coxswain/kit'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, countCell, nameCell } from '../shared/cells.ts'
import { childOf } from '../shared/members.ts'
import { type Findings, validateQualifiedName } from '../shared/reading.ts'
import { keepStatusMetadata } from '../shared/status-metadata.ts'
import type { Strategy } from '../strategy.ts'
import { compileAdmissionExpression, type ExpressionOptions, PolicyVariables } from './expressions/compile.ts'
import { validateExpression } from './expressions/validate.ts'
import { validateMatchConditions } from './match-conditions.ts'
import {
  defaultMatchResources,
  failurePolicies,
  reinvocationPolicies,
  validateMatchResources,
  validateMutatingOperations,
  warnAboutReservedName,
} from './rules.ts'

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const patchTypes = ['ApplyConfiguration', 'JSONPatch']
const maxAuditAnnotations = 20
const maxValueExpression = 5 * 1024

const common: Strategy<ValidatingAdmissionPolicy> & Strategy<MutatingAdmissionPolicy> = {
  generation: true,
  unconditionalUpdate: false,
  plainFinalizers: true,
  default(object) {
    const spec = childOf(object, 'spec')
    spec.failurePolicy ??= 'Fail'
    defaultMatchResources(spec.matchConstraints)
  },
  warnings: warnAboutReservedName,
}

export const validatingAdmissionPolicyStrategy: Strategy = defineStrategy<ValidatingAdmissionPolicy>({
  ...common,
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

export const mutatingAdmissionPolicyStrategy: Strategy = defineStrategy<MutatingAdmissionPolicy>({
  ...common,
  validate: (object, _context, old) => validateMutatingPolicy(object, old),
  cells: (object, now) => {
    const { mutations, paramKind } = object.spec ?? {}
    return {
      Name: nameCell(object),
      Mutations: countCell(mutations),
      ParamKind: printParamKind(paramKind),
      Age: ageCell(object, now),
    }
  },
})

const printParamKind = (paramKind: Decoded<ParamKind> | null | undefined): string =>
  paramKind ? `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}` : '<unset>'

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

function* validateMutatingPolicy(
  object: Decoded<MutatingAdmissionPolicy>,
  old: Decoded<MutatingAdmissionPolicy> | undefined,
): Findings {
  const spec = object.spec ?? {}
  const path = field.Path.of('spec')
  yield* validateSubject(spec, path)
  yield* validateMutatingOperations(spec.matchConstraints, path.child('matchConstraints'))
  yield* validateConditionsOf(spec, old, path)
  const scope = scopeOf(spec, true)
  yield* validateVariables(spec.variables, scope, path.child('variables'))
  const mutations = spec.mutations ?? []
  if (mutations.length === 0)
    yield field.required(path.child('mutations'), 'mutations must contain at least one item')
  for (const [index, mutation] of mutations.entries())
    yield* validateMutation(mutation, scope, path.child('mutations').index(index))
  const policy = spec.reinvocationPolicy ?? ''
  if (policy === '') yield field.required(path.child('reinvocationPolicy'))
  else if (!reinvocationPolicies.includes(policy))
    yield field.notSupported(path.child('reinvocationPolicy'), policy, reinvocationPolicies)
}

/** What the expressions of a policy can use. */
function scopeOf(spec: Decoded<ValidatingAdmissionPolicySpec>, hasVariables: boolean): ExpressionOptions {
  return {
    params: spec.paramKind !== undefined,
    authorizer: true,
    ...(hasVariables && { variables: new PolicyVariables() }),
  }
}

/** What both kinds of policy say first: how they fail and what they are about. */
function* validateSubject(spec: Decoded<ValidatingAdmissionPolicySpec>, path: field.Path): Findings {
  const failure = spec.failurePolicy ?? ''
  if (!failurePolicies.includes(failure))
    yield field.notSupported(path.child('failurePolicy'), failure, failurePolicies)
  if (spec.paramKind) yield* validateParamKind(spec.paramKind, path.child('paramKind'))
  const at = path.child('matchConstraints')
  if (!spec.matchConstraints) {
    yield field.required(at)
    return
  }
  yield* validateMatchResources(spec.matchConstraints, at)
  if ((spec.matchConstraints.resourceRules ?? []).length === 0)
    yield field.required(at.child('resourceRules'))
}

function* validateConditionsOf(
  spec: Decoded<ValidatingAdmissionPolicySpec>,
  old: Decoded<ValidatingAdmissionPolicy> | undefined,
  path: field.Path,
): Findings {
  const before = old?.spec ?? {}
  const unchanged =
    old !== undefined &&
    deepEqual(spec.paramKind, before.paramKind) &&
    deepEqual(spec.matchConditions, before.matchConditions)
  if (unchanged) return
  const at = path.child('matchConditions')
  yield* validateMatchConditions(spec.matchConditions, at, spec.paramKind !== undefined)
}

function* validateParamKind({ apiVersion, kind }: Decoded<ParamKind>, path: field.Path): Findings {
  const at = path.child('apiVersion')
  const version = apiVersion ?? ''
  if (version === '') yield field.required(at)
  else if (version.split('/').length > 2)
    yield field.invalid(at, version, `unexpected GroupVersion string: ${version}`)
  else yield* validateGroupVersion(version, at)
  const name = kind ?? ''
  if (name === '') {
    yield field.required(path.child('kind'))
    return
  }
  const wrong = isDNS1035Label(name.toLowerCase())
  if (wrong.length > 0)
    yield field.invalid(
      path.child('kind'),
      name,
      `may have mixed case, but should otherwise match: ${wrong.join(',')}`,
    )
}

function* validateGroupVersion(text: string, path: field.Path): Findings {
  const slash = text.indexOf('/')
  const group = text === '/' || slash < 0 ? '' : text.slice(0, slash)
  const version = text === '/' ? '' : text.slice(slash + 1)
  if (group !== '') {
    const wrong = isDNS1123Subdomain(group)
    if (wrong.length > 0) yield field.invalid(path, group, wrong.join(','))
  }
  if (version === '') {
    yield field.invalid(path, text, 'version must be specified')
    return
  }
  const wrong = isDNS1035Label(version)
  if (wrong.length > 0) yield field.invalid(path, version, wrong.join(','))
}

const isBlank = (value: string | null | undefined): boolean => (value ?? '').trim() === ''

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

function* validateVariables(
  variables: Decoded<Variable[]> | null | undefined,
  scope: ExpressionOptions,
  path: field.Path,
): Findings {
  for (const [index, variable] of (variables ?? []).entries()) {
    const at = path.index(index)
    const name = variable.name ?? ''
    if (isBlank(name)) yield field.required(at.child('name'), 'name is not specified')
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || reserved.has(name))
      yield field.invalid(at.child('name'), name, 'must be a valid CEL identifier')
    if (isBlank(variable.expression)) {
      yield field.required(at.child('expression'), 'expression is not specified')
      continue
    }
    const compiled = scope.variables?.add(name, variable.expression ?? '', scope)
    if (compiled) yield* validateExpression(compiled, at.child('expression'))
  }
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

const patchMembers = { JSONPatch: 'jsonPatch', ApplyConfiguration: 'applyConfiguration' } as const

/** The patch of the type that is named is there, and the other one is not. */
function* validateMutation(
  mutation: Decoded<Mutation>,
  scope: ExpressionOptions,
  path: field.Path,
): Findings {
  const type = mutation.patchType ?? ''
  if (type === '') {
    yield field.required(path.child('patchType'))
    return
  }
  if (type !== 'JSONPatch' && type !== 'ApplyConfiguration') {
    yield field.notSupported(path.child('patchType'), type, patchTypes)
    return
  }
  const wanted = patchMembers[type]
  const other = wanted === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  const patch = mutation[wanted]
  if (!patch) yield field.required(path.child(wanted), `must be specified when patchType is ${type}`)
  else if (isBlank(patch.expression)) yield field.required(path.child(wanted, 'expression'))
  else {
    const expression = (patch.expression ?? '').trim()
    const compiled = compileAdmissionExpression(expression, wanted, { ...scope, patchTypes: true })
    yield* validateExpression(compiled, path.child(wanted, 'expression'))
  }
  if (mutation[other])
    yield field.invalid(path.child(other), `{${other}}`, `must not be specified when patchType is ${type}`)
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
