import type { RequestContext } from '../request/context.ts'

/** How much of a request is recorded, least first. */
export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type Level = (typeof levels)[number]

export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type Stage = (typeof stages)[number]

/** `Policy` of `audit.k8s.io/v1`. */
export interface AuditPolicy {
  readonly rules: readonly PolicyRule[]
  readonly omitStages?: readonly Stage[]
  readonly omitManagedFields?: boolean
}

export interface PolicyRule {
  readonly level: Level
  readonly users?: readonly string[]
  readonly userGroups?: readonly string[]
  readonly verbs?: readonly string[]
  readonly resources?: readonly GroupResources[]
  readonly namespaces?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly omitStages?: readonly Stage[]
  readonly omitManagedFields?: boolean
}

export interface GroupResources {
  readonly group?: string
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** The policy's decision about one request. */
export interface Verdict {
  readonly level: Level
  readonly omitStages: ReadonlySet<Stage>
  readonly omitManagedFields: boolean
}

const nothing: Verdict = { level: 'None', omitStages: new Set(), omitManagedFields: false }

export const isAtLeast = (level: Level, least: Level): boolean =>
  levels.indexOf(level) >= levels.indexOf(least)

/** The first matching rule decides; without any, nothing is recorded. */
export function createEvaluator(policy: AuditPolicy): (context: RequestContext) => Verdict {
  const compiled = policy.rules.map(rule => ({
    rule,
    verdict: {
      level: rule.level,
      omitStages: new Set([...(policy.omitStages ?? []), ...(rule.omitStages ?? [])]),
      omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields ?? false,
    },
  }))
  return context => compiled.find(({ rule }) => matches(rule, context))?.verdict ?? nothing
}

const isEmpty = (list: readonly unknown[] | undefined): boolean => !list || list.length === 0

function matches(rule: PolicyRule, { user, info }: RequestContext): boolean {
  if (!isEmpty(rule.users) && !rule.users!.includes(user.name)) return false
  if (!isEmpty(rule.userGroups) && !rule.userGroups!.some(group => user.groups.includes(group))) return false
  if (!isEmpty(rule.verbs) && !rule.verbs!.includes(info.verb) && !rule.verbs!.includes('*')) return false
  if (!isEmpty(rule.namespaces) || !isEmpty(rule.resources)) return matchesResource(rule, info)
  if (!isEmpty(rule.nonResourceURLs)) {
    return !info.isResource && rule.nonResourceURLs!.some(pattern => matchesPath(pattern, info.path))
  }
  return true
}

function matchesPath(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true
  return pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1))
}

function matchesResource(rule: PolicyRule, info: RequestContext['info']): boolean {
  if (!info.isResource) return false
  if (!isEmpty(rule.namespaces) && !rule.namespaces!.includes(info.namespace)) return false
  if (isEmpty(rule.resources)) return true
  const { group, resource, subresource, name } = info
  const combined = subresource === '' ? resource : `${resource}/${subresource}`
  return rule.resources!.some(entry => {
    if ((entry.group ?? '') !== group) return false
    if (isEmpty(entry.resources)) return true
    if (!isEmpty(entry.resourceNames) && !entry.resourceNames!.includes(name)) return false
    return entry.resources!.some(
      wanted =>
        wanted === combined ||
        wanted === '*' ||
        (subresource !== '' && (wanted === `${resource}/*` || wanted === `*/${subresource}`)),
    )
  })
}
