import type { GroupVersionResource } from '@coxswain/apimachinery/meta'

/** `RuleWithOperations` of webhooks, and `NamedRuleWithOperations` of policies. */
export interface Rule {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
  /** Policies only: any name when empty. */
  readonly resourceNames?: readonly string[]
}

/** What a rule looks at. */
export interface RuleSubject {
  readonly operation: string
  readonly resource: GroupVersionResource
  readonly subresource: string
  /** Whether the request is about something in a namespace; a namespace itself is not. */
  readonly namespaced: boolean
}

/** Whether a rule covers a request, names aside. */
export function matchesRule(
  rule: Rule,
  { operation, resource, subresource, namespaced }: RuleSubject,
): boolean {
  return (
    matchesScope(rule.scope, namespaced) &&
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, resource.group) &&
    includes(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some(pattern => matchesResource(pattern, resource.resource, subresource))
  )
}

function matchesScope(scope: string | undefined, namespaced: boolean): boolean {
  if (scope === undefined || scope === '*') return true
  return scope === (namespaced ? 'Namespaced' : 'Cluster')
}

function includes(items: readonly string[] | undefined, wanted: string): boolean {
  return items?.some(item => item === '*' || item === wanted) ?? false
}

/** `pods` is not `pods/status`; each side of the slash may be a star. */
function matchesResource(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/')
  const name = slash < 0 ? pattern : pattern.slice(0, slash)
  const part = slash < 0 ? '' : pattern.slice(slash + 1)
  return (name === '*' || name === resource) && (part === '*' || part === subresource)
}
