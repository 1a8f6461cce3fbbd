import type { PolicyRule, Role } from '@coxswain/api/rbac/v1'
import * as field from '@coxswain/apimachinery/field'
import type { Decoded } from '../decoded.ts'
import type { Findings } from '../shared/reading.ts'

/** Rules of a Role cannot apply to non-resource URLs. */
export type RuleScope = 'Namespaced' | 'Cluster'

export function* validateRules(object: Decoded<Role>, scope: RuleScope): Findings {
  const path = field.Path.of('rules')
  for (const [index, rule] of (object.rules ?? []).entries())
    yield* validatePolicyRule(rule, scope, path.index(index))
}

const count = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

function* validatePolicyRule(rule: Decoded<PolicyRule>, scope: RuleScope, path: field.Path): Findings {
  if (count(rule.verbs) === 0)
    yield field.required(path.child('verbs'), 'verbs must contain at least one value')
  if (count(rule.nonResourceURLs) > 0) {
    const at = path.child('nonResourceURLs')
    if (scope === 'Namespaced')
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
