import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Attributes } from '../attributes.ts'
import { isNamespaceResource } from '../create-attributes.ts'
import { type Equivalent, otherResources, ownResource } from '../matching/equivalents.ts'
import { matchesRule, type Rule } from '../matching/rules.ts'
import { matchesSelectors, readSelectors, type Selectors } from '../matching/selectors.ts'

/** `MatchResources`: which requests a policy or binding applies to. */
export interface MatchResources {
  readonly selectors: Selectors
  /** Empty matches everything. */
  readonly rules: readonly Rule[]
  readonly excluded: readonly Rule[]
  readonly exact: boolean
}

export function readMatchResources(value: unknown): MatchResources | undefined {
  if (!isObject(value)) return undefined
  return {
    selectors: readSelectors(value),
    rules: rulesOf(value.resourceRules),
    excluded: rulesOf(value.excludeResourceRules),
    exact: value.matchPolicy !== 'Equivalent',
  }
}

function rulesOf(rules: unknown): Rule[] {
  return Array.isArray(rules) ? (rules.filter(isObject) as JsonObject[] as Rule[]) : []
}

/** The request as the policy sees it; undefined when it does not match. Throws a 404 when the namespace does not exist. */
export function matchResources(attributes: Attributes, resources: MatchResources): Equivalent | undefined {
  if (findRule(attributes, resources.excluded, resources.exact)) return undefined
  const matched =
    resources.rules.length === 0
      ? ownResource(attributes)
      : findRule(attributes, resources.rules, resources.exact)
  return matched && matchesSelectors(attributes, resources.selectors) ? matched : undefined
}

/** Whether any rule could match the request; names and selectors are not evaluated. */
export function mayMatch(attributes: Attributes, resources: MatchResources): boolean {
  if (resources.rules.length === 0) return true
  return findRule(attributes, resources.rules, resources.exact, false) !== undefined
}

function findRule(
  ...[attributes, rules, exact, withNames = true]: [Attributes, readonly Rule[], boolean, boolean?]
): Equivalent | undefined {
  if (rules.length === 0) return undefined
  const { operation, subresource, name } = attributes
  const namespaced = attributes.namespace !== '' && !isNamespaceResource(attributes)
  const covers = (rule: Rule, { resource }: Equivalent): boolean => {
    if (!matchesRule(rule, { operation, resource, subresource, namespaced })) return false
    const names = rule.resourceNames ?? []
    return !withNames || names.length === 0 || names.includes(name)
  }
  const own = ownResource(attributes)
  if (rules.some(rule => covers(rule, own))) return own
  if (exact) return undefined
  const others = otherResources(attributes)
  for (const rule of rules) {
    const found = others.find(other => covers(rule, other))
    if (found) return found
  }
  return undefined
}
