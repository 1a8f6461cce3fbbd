import type { ClusterRole, PolicyRule, Role } from '@coxswain/api/rbac/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { nameIsPathSegment, validateLabelSelector } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import type { Findings } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { checkRole } from './escalation.ts'

export const roleStrategy: Strategy = defineStrategy<Role>({
  createOnUpdate: true,
  validateName: name => nameIsPathSegment(name, false),
  prepareForCreate: (object, context) => checkRole('roles', object, undefined, context),
  prepareForUpdate: (object, old, context) => checkRole('roles', object, old, context),
  validate: object => validateRules(object, true),
})

export const clusterRoleStrategy: Strategy = defineStrategy<ClusterRole>({
  createOnUpdate: true,
  validateName: name => nameIsPathSegment(name, false),
  prepareForCreate: (object, context) => checkRole('clusterroles', object, undefined, context),
  prepareForUpdate: (object, old, context) => checkRole('clusterroles', object, old, context),
  validate: (object, _context, old) => [
    ...validateRules(object, false),
    ...validateAggregation(object, old !== undefined && hasInvalidSelector(old)),
  ],
})

function* validateRules(object: Decoded<ClusterRole>, namespaced: boolean): Findings {
  const path = field.Path.of('rules')
  for (const [index, rule] of (object.rules ?? []).entries())
    yield* validatePolicyRule(rule, namespaced, path.index(index))
}

const count = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

function* validatePolicyRule(rule: Decoded<PolicyRule>, namespaced: boolean, path: field.Path): Findings {
  if (count(rule.verbs) === 0)
    yield field.required(path.child('verbs'), 'verbs must contain at least one value')
  if (count(rule.nonResourceURLs) > 0) {
    const at = path.child('nonResourceURLs')
    if (namespaced)
      yield field.invalid(at, rule.nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs')
    if (count(rule.apiGroups) + count(rule.resources) + count(rule.resourceNames) > 0)
      yield field.invalid(
        at,
        rule.nonResourceURLs,
        'rules cannot apply to both regular resources and non-resource URLs',
      )
    return
  }
  if (count(rule.apiGroups) === 0)
    yield field.required(path.child('apiGroups'), 'resource rules must supply at least one api group')
  if (count(rule.resources) === 0)
    yield field.required(path.child('resources'), 'resource rules must supply at least one resource')
}

const selectorsPath = field.Path.of('aggregationRule', 'clusterRoleSelectors')

function selectorsOf(object: Decoded<ClusterRole>): LabelSelector[] {
  return object.aggregationRule
    ? ((object.aggregationRule.clusterRoleSelectors ?? []) as LabelSelector[])
    : []
}

function validateAggregation(object: Decoded<ClusterRole>, allowInvalidLabelValue: boolean): FieldError[] {
  if (!object.aggregationRule) return []
  const selectors = selectorsOf(object)
  if (selectors.length === 0)
    return [
      field.required(
        selectorsPath,
        'at least one clusterRoleSelector required if aggregationRule is non-nil',
      ),
    ]
  return selectors.flatMap((selector, index) => {
    const path = selectorsPath.index(index)
    const errors = validateLabelSelector(selector, path, { allowInvalidLabelValue })
    return errors.length === 0 || allowInvalidLabelValue
      ? errors
      : [...errors, field.invalid(path, null, 'invalid label selector.')]
  })
}

/** Objects that were stored before label values were checked may keep theirs. */
function hasInvalidSelector(object: Decoded<ClusterRole>): boolean {
  return selectorsOf(object).some(selector => validateLabelSelector(selector, selectorsPath).length > 0)
}
