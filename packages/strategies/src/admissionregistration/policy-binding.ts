import type {
  MutatingAdmissionPolicyBinding,
  ParamRef,
  ValidatingAdmissionPolicyBinding,
} from '@coxswain/api/admissionregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import {
  isDNS1123Subdomain,
  isValidPathSegmentName,
  validateLabelSelector,
} from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { childOf } from '../shared/members.ts'
import { type Findings, invalidBecause } from '../shared/reading.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { defaultMatchResources, validateMatchResources, warnAboutReservedName } from './rules.ts'

/** What both kinds of binding have in common. */
export const policyBindingStrategy: Strategy<ValidatingAdmissionPolicyBinding> &
  Strategy<MutatingAdmissionPolicyBinding> = {
  generation: true,
  unconditionalUpdate: false,
  plainFinalizers: true,
  default: object => defaultMatchResources(childOf(object, 'spec').matchResources),
  warnings: warnAboutReservedName,
  cells: printBinding,
}

export function* validateBinding(object: Decoded<ValidatingAdmissionPolicyBinding>): Findings {
  const { policyName, paramRef, matchResources } = object.spec ?? {}
  const path = field.Path.of('spec')
  const name = policyName ?? ''
  if (name === '') yield field.required(path.child('policyName'))
  else yield* invalidBecause(path.child('policyName'), name, isDNS1123Subdomain(name))
  if (paramRef) yield* validateParamRef(paramRef, path.child('paramRef'))
  yield* validateMatchResources(matchResources, path.child('matchResources'))
}

const exclusive = 'name and selector are mutually exclusive'

function* validateParamRef(ref: Decoded<ParamRef>, path: field.Path): Findings {
  const name = ref.name ?? ''
  const selector = ref.selector ? (ref.selector as LabelSelector) : undefined
  if (name !== '') {
    yield* invalidBecause(path.child('name'), name, isValidPathSegmentName(name))
    if (selector) yield field.forbidden(path.child('name'), exclusive)
  }
  if (selector) {
    yield* validateLabelSelector(selector, path.child('selector'))
    if (name !== '') yield field.forbidden(path.child('selector'), exclusive)
  }
  if (name === '' && !selector) yield field.required(path, 'one of name or selector must be specified')
  const action = ref.parameterNotFoundAction ?? ''
  const at = path.child('parameterNotFoundAction')
  if (action === '') yield field.required(at)
  else if (action !== 'Deny' && action !== 'Allow') yield field.notSupported(at, action, ['Deny', 'Allow'])
}

function printBinding(object: Decoded<ValidatingAdmissionPolicyBinding>, now: number): TableCells {
  const { policyName, paramRef } = object.spec ?? {}
  return {
    Name: nameCell(object),
    PolicyName: policyName ?? '',
    ParamRef: printParamRef(paramRef),
    Age: ageCell(object, now),
  }
}

function printParamRef(ref: Decoded<ParamRef> | null | undefined): string {
  if (!ref) return '<unset>'
  const name = ref.name ?? ''
  if (name !== '') return `${(ref.namespace ?? '') || '*'}/${name}`
  return ref.selector ? printSelector(ref.selector) : '<unset>'
}

/** As Go prints the struct. */
function printSelector(selector: Decoded<LabelSelector>): string {
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values }) =>
      `LabelSelectorRequirement{Key:${key ?? ''},Operator:${operator ?? ''},Values:[${(values ?? []).join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}
