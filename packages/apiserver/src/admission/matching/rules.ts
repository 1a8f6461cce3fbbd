import type { GroupVersionResource } from '@coxswain/apimachinery/meta'

/** `RuleWithOperations` of webhooks, and `NamedRuleWithOperations` of policies. */
export interface Rule {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
  /** Policies only; empty matches any name. */
  readonly resourceNames?: readonly string[]
}

/** The parts of a request that rules match. */
export interface RuleSubject {
  readonly operation: string
  readonly resource: GroupVersionResource
  readonly subresource: string
  /** Whether the request is namespaced; requests for a Namespace itself are not. */
  readonly namespaced: boolean
}

/** Whether a rule matches a request, resource names aside. */
export function matchesRule(rule: Rule, subject: RuleSubject): boolean {
  const { operation, resource, subresource } = subject
  return (
    matchesScope(rule, subject) &&
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, resource.group) &&
    includes(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some(pattern => matchesResource(pattern, resource.resource, subresource))
  )
}

function matchesScope({ scope }: Rule, { namespaced }: RuleSubject): boolean {
  if (scope === undefined || scope === '*') return true
  return scope === (namespaced ? 'Namespaced' : 'Cluster')
}

function includes(items: readonly string[] | undefined, wanted: string): boolean {
  return items?.some(item => item === '*' || item === wanted) ?? false
}

/** `pods` does not match `pods/status`; each side of the slash may be `*`. */
function matchesResource(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/')
  const name = slash < 0 ? pattern : pattern.slice(0, slash)
  const part = slash < 0 ? '' : pattern.slice(slash + 1)
  return (name === '*' || name === resource) && (part === '*' || part === subresource)
}
