import type {
  MatchResources,
  NamedRuleWithOperations,
  RuleWithOperations,
} from '@coxswain/api/admissionregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import type { LabelSelector, ObjectMeta } from '@coxswain/apimachinery/meta'
import { isValidPathSegmentName, validateLabelSelector } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { type Findings, invalidBecause } from '../shared/reading.ts'

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
/** The operations that a mutating policy can match. */
const mutatingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']

export const failurePolicies: readonly string[] = ['Fail', 'Ignore']
export const matchPolicies: readonly string[] = ['Equivalent', 'Exact']
export const reinvocationPolicies: readonly string[] = ['IfNeeded', 'Never']

/** Sets the scope of rules that have none. */
export function defaultRules(rules: Decoded<RuleWithOperations[]> | null | undefined): void {
  for (const rule of rules ?? []) rule.scope ??= '*'
}

export function* validateRuleWithOperations(rule: Decoded<RuleWithOperations>, path: field.Path): Findings {
  const found = rule.operations ?? []
  const at = path.child('operations')
  if (found.length === 0) yield field.required(at)
  yield* validateWildcard(found, at, 'operations')
  for (const [index, operation] of found.entries())
    if (!operations.includes(operation)) yield field.notSupported(at.index(index), operation, operations)
  yield* validateRule(rule, path)
}

function* validateWildcard(values: readonly string[], path: field.Path, what: string): Findings {
  if (values.length > 1 && values.includes('*'))
    yield field.invalid(path, values, `if '*' is present, must not specify other ${what}`)
}

function* validateRule(rule: Decoded<RuleWithOperations>, path: field.Path): Findings {
  const groups = rule.apiGroups ?? []
  if (groups.length === 0) yield field.required(path.child('apiGroups'))
  yield* validateWildcard(groups, path.child('apiGroups'), 'API groups')
  const versions = rule.apiVersions ?? []
  const versionsPath = path.child('apiVersions')
  if (versions.length === 0) yield field.required(versionsPath)
  yield* validateWildcard(versions, versionsPath, 'API versions')
  for (const [index, version] of versions.entries())
    if (!version) yield field.required(versionsPath.index(index))
  yield* validateResources(rule.resources ?? [], path.child('resources'))
  const { scope } = rule
  if (typeof scope === 'string' && !scopes.includes(scope))
    yield field.notSupported(path.child('scope'), scope, scopes)
}

/** Resources are `name`, `name/subresource` or either with a wildcard; nothing may be listed that a wildcard covers. */
function* validateResources(resources: readonly string[], path: field.Path): Findings {
  if (resources.length === 0) yield field.required(path)
  const wholeResources = new Set<string>()
  const wholeSubresources = new Set<string>()
  let endsPlain = false
  for (const [index, resource] of resources.entries()) {
    const at = path.index(index)
    if (!resource) {
      yield field.required(at)
      continue
    }
    const slash = resource.indexOf('/')
    if (slash < 0) {
      endsPlain = resource !== '*'
      continue
    }
    const name = resource.slice(0, slash)
    const subresource = resource.slice(slash + 1)
    if (wholeResources.has(name))
      yield field.invalid(at, resource, `if '${name}/*' is present, must not specify ${resource}`)
    if (wholeSubresources.has(subresource))
      yield field.invalid(at, resource, `if '*/${subresource}' is present, must not specify ${resource}`)
    if (subresource === '*') wholeResources.add(name)
    if (name === '*') wholeSubresources.add(subresource)
  }
  if (resources.length > 1 && resources.includes('*/*'))
    yield field.invalid(path, resources, "if '*/*' is present, must not specify other resources")
  if (resources.includes('*') && endsPlain)
    yield field.invalid(
      path,
      resources,
      "if '*' is present, must not specify other resources without subresources",
    )
}

/** A `MatchResources` selects the requests that a policy or binding applies to. */
export function defaultMatchResources(match: Decoded<MatchResources> | null | undefined): void {
  if (!match) return
  match.namespaceSelector ??= {}
  match.objectSelector ??= {}
  match.matchPolicy ??= 'Equivalent'
  defaultRules(match.resourceRules)
  defaultRules(match.excludeResourceRules)
}

export function* validateMatchResources(
  match: Decoded<MatchResources> | null | undefined,
  path: field.Path,
): Findings {
  if (!match) return
  const policy = match.matchPolicy ?? ''
  if (!matchPolicies.includes(policy))
    yield field.notSupported(path.child('matchPolicy'), policy, matchPolicies)
  for (const name of ['namespaceSelector', 'objectSelector'] as const)
    yield* validateLabelSelector(match[name] as LabelSelector | undefined, path.child(name))
  for (const name of ['resourceRules', 'excludeResourceRules'] as const)
    for (const [index, rule] of (match[name] ?? []).entries())
      yield* validateNamedRule(rule, path.child(name).index(index))
}

function* validateNamedRule(rule: Decoded<NamedRuleWithOperations>, path: field.Path): Findings {
  const names = new Set<string>()
  for (const [index, name] of (rule.resourceNames ?? []).entries()) {
    const at = path.child('resourceNames').index(index)
    yield* invalidBecause(at, name, isValidPathSegmentName(name))
    if (names.has(name)) yield field.duplicate(at, name)
    names.add(name)
  }
  yield* validateRuleWithOperations(rule, path)
}

/** A mutating policy cannot change what is being deleted. */
export function* validateMutatingOperations(
  match: Decoded<MatchResources> | null | undefined,
  path: field.Path,
): Findings {
  if (!match) return
  for (const rule of match.resourceRules ?? [])
    for (const operation of rule.operations ?? [])
      if (!mutatingOperations.includes(operation))
        yield field.notSupported(path.child('resourceRules', 'operations'), operation, mutatingOperations)
}

/** Names of this form belong to configuration that comes from files. */
export function warnAboutReservedName({ metadata }: { metadata: Decoded<ObjectMeta> }): string[] {
  const suffix = '.static.k8s.io'
  if (!(metadata.name ?? '').endsWith(suffix)) return []
  return [
    `metadata.name: names ending with "${suffix}" are reserved for static manifest-based configurations and cannot be managed via the API`,
  ]
}
