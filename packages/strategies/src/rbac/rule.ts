import { isObject, type JsonObject } from '@coxswain/apimachinery/json'

const none: readonly string[] = []

/** A rule as roles have it. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  /** Every object when there are none. */
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** The rules of a stored or received role: what Go leaves empty or null is not there. */
export function readRules(role: JsonObject): PolicyRule[] {
  const rules = Array.isArray(role.rules) ? role.rules.filter(isObject) : []
  return rules.map(rule => {
    const { verbs, ...lists } = rule as { readonly [list in keyof PolicyRule]?: readonly string[] | null }
    const present = Object.entries(lists).filter(([, items]) => Array.isArray(items) && items.length > 0)
    return { verbs: verbs ?? none, ...Object.fromEntries(present) }
  })
}

/** A rule compiled for many lookups. A list that is undefined matches everything. */
export interface CompiledRule {
  readonly rule: PolicyRule
  readonly verbs: readonly string[] | undefined
  readonly groups: readonly string[] | undefined
  /** As `pods` or `pods/log`. */
  readonly resources: readonly string[] | undefined
  /** Of `*\/scale`: `scale`. */
  readonly subresources: readonly string[]
  readonly names: readonly string[] | undefined
  readonly paths: readonly string[] | undefined
  /** What paths may begin with. */
  readonly pathPrefixes: readonly string[]
}

/** Prepares a PolicyRule for evaluation. */
export function compileRule(rule: PolicyRule): CompiledRule {
  const {
    verbs = none,
    apiGroups = none,
    resources = none,
    resourceNames = none,
    nonResourceURLs = none,
  } = rule
  const orAll = (items: readonly string[]) => (items.includes('*') ? undefined : items)
  return {
    rule,
    verbs: orAll(verbs),
    groups: orAll(apiGroups),
    resources: orAll(resources),
    subresources: resources.filter(name => name.startsWith('*/')).map(name => name.slice(2)),
    names: resourceNames.length === 0 ? undefined : resourceNames,
    paths: orAll(nonResourceURLs),
    pathPrefixes: nonResourceURLs.filter(path => path.endsWith('*')).map(path => path.replace(/\*+$/, '')),
  }
}

/** `combined` is `RESOURCE/SUBRESOURCE`, or the resource where there is no subresource. */
export function allowsResource(
  rule: CompiledRule,
  verb: string,
  group: string,
  combined: string,
  subresource: string,
  name: string,
): boolean {
  return (
    (rule.verbs === undefined || rule.verbs.includes(verb)) &&
    (rule.groups === undefined || rule.groups.includes(group)) &&
    (rule.resources === undefined ||
      rule.resources.includes(combined) ||
      (subresource !== '' && rule.subresources.includes(subresource))) &&
    (rule.names === undefined || rule.names.includes(name))
  )
}

/** Whether a rule allows `verb` on a non-resource path. */
export function allowsPath(rule: CompiledRule, verb: string, path: string): boolean {
  if (rule.verbs !== undefined && !rule.verbs.includes(verb)) return false
  if (rule.paths === undefined || rule.paths.includes(path)) return true
  for (const prefix of rule.pathPrefixes) if (path.startsWith(prefix)) return true
  return false
}
