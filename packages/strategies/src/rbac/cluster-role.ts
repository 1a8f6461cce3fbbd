import type { ClusterRole } from '@coxswain/api/rbac/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { nameIsPathSegment, validateLabelSelector } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import type { Strategy } from '../strategy.ts'
import { checkRole } from './escalation.ts'
import { validateRules } from './policy-rules.ts'

export const clusterRoleStrategy: Strategy = defineStrategy<ClusterRole>({
  createOnUpdate: true,
  validateName: name => nameIsPathSegment(name, false),
  prepareForCreate: (object, context) => checkRole('clusterroles', object, undefined, context),
  prepareForUpdate: (object, old, context) => checkRole('clusterroles', object, old, context),
  validate: (object, _context, old) => [
    ...validateRules(object, 'Cluster'),
    ...validateAggregation(object, old !== undefined && hasInvalidSelector(old)),
  ],
})

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
