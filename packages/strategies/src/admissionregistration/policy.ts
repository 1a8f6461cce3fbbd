import type {
  MutatingAdmissionPolicy,
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  Variable,
} from '@coxswain/api/admissionregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isDNS1035Label, isDNS1123Subdomain } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { childOf } from '../shared/members.ts'
import type { Findings } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { type ExpressionOptions, PolicyVariables } from './expressions/compile.ts'
import { validateExpression } from './expressions/validate.ts'
import { validateMatchConditions } from './match-conditions.ts'
import {
  defaultMatchResources,
  failurePolicies,
  validateMatchResources,
  warnAboutReservedName,
} from './rules.ts'

/** What both kinds of policy have in common. */
export const policyStrategy: Strategy<ValidatingAdmissionPolicy> & Strategy<MutatingAdmissionPolicy> = {
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

export const printParamKind = (paramKind: Decoded<ParamKind> | null | undefined): string =>
  paramKind ? `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}` : '<unset>'

/** What the expressions of a policy can use. */
export function scopeOf(
  spec: Decoded<ValidatingAdmissionPolicySpec>,
  hasVariables: boolean,
): ExpressionOptions {
  return {
    params: spec.paramKind !== undefined,
    authorizer: true,
    ...(hasVariables && { variables: new PolicyVariables() }),
  }
}

/** How a policy fails, and what it matches. */
export function* validateSubject(spec: Decoded<ValidatingAdmissionPolicySpec>, path: field.Path): Findings {
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

export function* validateConditionsOf(
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

export const isBlank = (value: string | null | undefined): boolean => (value ?? '').trim() === ''

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

export function* validateVariables(
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
