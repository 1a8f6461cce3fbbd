import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type AuditPolicy, levels, type PolicyRule, stages } from './policy.ts'

/** Validates the content of a policy file. Throws an Error that lists every problem with its path. */
export function readAuditPolicy(value: unknown): AuditPolicy {
  if (!isObject(value)) throw new Error('the policy is not an object')
  const problems: string[] = []
  if (value.apiVersion !== 'audit.k8s.io/v1')
    problems.push(`apiVersion: ${JSON.stringify(value.apiVersion)} is not audit.k8s.io/v1`)
  if (value.kind !== 'Policy') problems.push(`kind: ${JSON.stringify(value.kind)} is not Policy`)
  const rules = Array.isArray(value.rules) ? value.rules : []
  if (rules.length === 0) problems.push('rules: there are none, so nothing would ever be written')
  checkStages(value.omitStages, 'omitStages', problems)
  for (const [index, rule] of rules.entries()) checkRule(rule, `rules[${index}]`, problems)
  if (problems.length > 0) throw new Error(problems.join('; '))
  return value as unknown as AuditPolicy
}

const known: ReadonlySet<keyof PolicyRule> = new Set([
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
  'omitManagedFields',
])

function checkRule(rule: unknown, path: string, problems: string[]): void {
  if (!isObject(rule)) {
    problems.push(`${path}: not an object`)
    return
  }
  for (const key of Object.keys(rule))
    if (!known.has(key as keyof PolicyRule)) problems.push(`${path}.${key}: unknown field`)
  if (!levels.includes(rule.level as never))
    problems.push(`${path}.level: ${JSON.stringify(rule.level)} is none of ${levels.join(', ')}`)
  checkStages(rule.omitStages, `${path}.omitStages`, problems)
  if (isSaid(rule, 'nonResourceURLs') && (isSaid(rule, 'resources') || isSaid(rule, 'namespaces')))
    problems.push(
      `${path}.nonResourceURLs: rules cannot apply to both regular resources and non-resource URLs`,
    )
  for (const url of listOf(rule.nonResourceURLs)) {
    const text = String(url)
    if (text !== '*' && !text.startsWith('/'))
      problems.push(`${path}.nonResourceURLs: ${JSON.stringify(text)} has to be * or to begin with /`)
    if (text.slice(0, -1).includes('*'))
      problems.push(`${path}.nonResourceURLs: ${JSON.stringify(text)} may have a * at its end only`)
  }
  for (const [index, entry] of listOf(rule.resources).entries()) {
    if (isObject(entry) && isSaid(entry, 'resourceNames') && !isSaid(entry, 'resources'))
      problems.push(`${path}.resources[${index}].resourceNames: needs resources to be named as well`)
  }
}

function checkStages(list: unknown, path: string, problems: string[]): void {
  for (const stage of listOf(list))
    if (!stages.includes(stage as never))
      problems.push(`${path}: ${JSON.stringify(stage)} is none of ${stages.join(', ')}`)
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const isSaid = (object: JsonObject, key: string): boolean => listOf(object[key]).length > 0
