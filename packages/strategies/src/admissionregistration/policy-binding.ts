import * as field from '@coxswain/apimachinery/field'
import { childObject, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import {
  isDNS1123Subdomain,
  isValidPathSegmentName,
  validateLabelSelector,
} from '@coxswain/apimachinery/validation'
import { ageCell, nameCell } from '../shared/cells.ts'
import {
  type Findings,
  invalidBecause,
  listOf,
  objectOf,
  recordOf,
  stringsOf,
  textOf,
} from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import {
  defaultMatchResources,
  validateMatchResources,
  validateMutatingOperations,
  warnAboutReservedName,
} from './rules.ts'

const actions = ['Audit', 'Deny', 'Warn']

const common: Strategy = {
  generation: true,
  unconditionalUpdate: false,
  plainFinalizers: true,
  default: object => defaultMatchResources(childObject(object, 'spec').matchResources),
  warnings: warnAboutReservedName,
  cells: printBinding,
}

export const validatingAdmissionPolicyBindingStrategy: Strategy = {
  ...common,
  validate: object => [...validateBinding(object), ...validateActions(objectOf(object.spec))],
}

export const mutatingAdmissionPolicyBindingStrategy: Strategy = {
  ...common,
  validate: object => [
    ...validateBinding(object),
    ...validateMutatingOperations(
      objectOf(object.spec).matchResources,
      field.Path.of('spec', 'matchResources'),
    ),
  ],
}

function* validateBinding(object: JsonObject): Findings {
  const { policyName, paramRef, matchResources } = objectOf(object.spec)
  const path = field.Path.of('spec')
  const name = textOf(policyName)
  if (name === '') yield field.required(path.child('policyName'))
  else yield* invalidBecause(path.child('policyName'), name, isDNS1123Subdomain(name))
  if (isObject(paramRef)) yield* validateParamRef(paramRef, path.child('paramRef'))
  yield* validateMatchResources(matchResources, path.child('matchResources'))
}

const exclusive = 'name and selector are mutually exclusive'

function* validateParamRef(ref: JsonObject, path: field.Path): Findings {
  const name = textOf(ref.name)
  const selector = isObject(ref.selector) ? (ref.selector as LabelSelector) : undefined
  if (name !== '') {
    yield* invalidBecause(path.child('name'), name, isValidPathSegmentName(name))
    if (selector) yield field.forbidden(path.child('name'), exclusive)
  }
  if (selector) {
    yield* validateLabelSelector(selector, path.child('selector'))
    if (name !== '') yield field.forbidden(path.child('selector'), exclusive)
  }
  if (name === '' && !selector) yield field.required(path, 'one of name or selector must be specified')
  const action = textOf(ref.parameterNotFoundAction)
  const at = path.child('parameterNotFoundAction')
  if (action === '') yield field.required(at)
  else if (action !== 'Deny' && action !== 'Allow') yield field.notSupported(at, action, ['Deny', 'Allow'])
}

function* validateActions(spec: JsonObject): Findings {
  const path = field.Path.of('spec', 'validationActions')
  const found = stringsOf(spec.validationActions)
  const seen = new Set<string>()
  for (const [index, action] of found.entries()) {
    if (!actions.includes(action)) yield field.notSupported(path.index(index), action, actions)
    if (seen.has(action)) yield field.duplicate(path.index(index), action)
    seen.add(action)
  }
  if (seen.has('Deny') && seen.has('Warn'))
    yield field.invalid(
      path,
      found,
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    )
  if (seen.size === 0) yield field.required(path, 'at least one validation action is required')
}

function printBinding(object: JsonObject, now: number): readonly unknown[] {
  const { policyName, paramRef } = objectOf(object.spec)
  return [nameCell(object), textOf(policyName), printParamRef(paramRef), ageCell(object, now)]
}

function printParamRef(ref: unknown): string {
  if (!isObject(ref)) return '<unset>'
  const name = textOf(ref.name)
  if (name !== '') return `${textOf(ref.namespace) || '*'}/${name}`
  return isObject(ref.selector) ? printSelector(ref.selector) : '<unset>'
}

/** As Go prints the struct. */
function printSelector(selector: JsonObject): string {
  const labels = Object.entries(recordOf(selector.matchLabels))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
  const expressions = listOf(selector.matchExpressions).map(
    ({ key, operator, values }) =>
      `LabelSelectorRequirement{Key:${textOf(key)},Operator:${textOf(operator)},Values:[${stringsOf(values).join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}
