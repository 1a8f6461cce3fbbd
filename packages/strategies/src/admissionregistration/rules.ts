import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { isValidPathSegmentName, validateLabelSelector } from '@coxswain/apimachinery/validation'
import { type Findings, invalidBecause, listOf, stringsOf, textOf } from '../shared/reading.ts'

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
/** What a mutating policy can be about. */
const mutatingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']

export const failurePolicies: readonly string[] = ['Fail', 'Ignore']
export const matchPolicies: readonly string[] = ['Equivalent', 'Exact']
export const reinvocationPolicies: readonly string[] = ['IfNeeded', 'Never']

/** Sets the scope of rules that have none. */
export function defaultRules(rules: unknown): void {
  for (const rule of listOf(rules)) rule.scope ??= '*'
}

export function* validateRuleWithOperations(rule: JsonObject, path: field.Path): Findings {
  const found = stringsOf(rule.operations)
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

function* validateRule(rule: JsonObject, path: field.Path): Findings {
  const groups = stringsOf(rule.apiGroups)
  if (groups.length === 0) yield field.required(path.child('apiGroups'))
  yield* validateWildcard(groups, path.child('apiGroups'), 'API groups')
  const versions = stringsOf(rule.apiVersions)
  const versionsPath = path.child('apiVersions')
  if (versions.length === 0) yield field.required(versionsPath)
  yield* validateWildcard(versions, versionsPath, 'API versions')
  for (const [index, version] of versions.entries())
    if (!version) yield field.required(versionsPath.index(index))
  yield* validateResources(stringsOf(rule.resources), path.child('resources'))
  const { scope } = rule
  if (typeof scope === 'string' && !scopes.includes(scope))
    yield field.notSupported(path.child('scope'), scope, scopes)
}

/** Resources are `name`, `name/subresource` or either with a wildcard; what a wildcard covers is not said again. */
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

/** A `MatchResources` says what a policy or a binding is about. */
export function defaultMatchResources(match: unknown): void {
  if (!isObject(match)) return
  match.namespaceSelector ??= {}
  match.objectSelector ??= {}
  match.matchPolicy ??= 'Equivalent'
  defaultRules(match.resourceRules)
  defaultRules(match.excludeResourceRules)
}

export function* validateMatchResources(match: unknown, path: field.Path): Findings {
  if (!isObject(match)) return
  const policy = textOf(match.matchPolicy)
  if (!matchPolicies.includes(policy))
    yield field.notSupported(path.child('matchPolicy'), policy, matchPolicies)
  for (const name of ['namespaceSelector', 'objectSelector'])
    yield* validateLabelSelector(match[name] as LabelSelector | undefined, path.child(name))
  for (const name of ['resourceRules', 'excludeResourceRules'])
    for (const [index, rule] of listOf(match[name]).entries())
      yield* validateNamedRule(rule, path.child(name).index(index))
}

function* validateNamedRule(rule: JsonObject, path: field.Path): Findings {
  const names = new Set<string>()
  for (const [index, name] of stringsOf(rule.resourceNames).entries()) {
    const at = path.child('resourceNames').index(index)
    yield* invalidBecause(at, name, isValidPathSegmentName(name))
    if (names.has(name)) yield field.duplicate(at, name)
    names.add(name)
  }
  yield* validateRuleWithOperations(rule, path)
}

/** A mutating policy cannot change what is being deleted. */
export function* validateMutatingOperations(match: unknown, path: field.Path): Findings {
  if (!isObject(match)) return
  for (const rule of listOf(match.resourceRules))
    for (const operation of stringsOf(rule.operations))
      if (!mutatingOperations.includes(operation))
        yield field.notSupported(path.child('resourceRules', 'operations'), operation, mutatingOperations)
}

/** Names of this form belong to configuration that comes from files. */
export function warnAboutReservedName(object: JsonObject): string[] {
  const suffix = '.static.k8s.io'
  if (!textOf((object.metadata as JsonObject).name).endsWith(suffix)) return []
  return [
    `metadata.name: names ending with "${suffix}" are reserved for static manifest-based configurations and cannot be managed via the API`,
  ]
}
