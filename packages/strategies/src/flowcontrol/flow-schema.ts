import type {
  FlowSchema,
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from '@coxswain/api/flowcontrol/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isDNS1123Label, isDNS1123Subdomain } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { childOf } from '../shared/members.ts'
import { type Findings, invalidBecause, numberOf, printed } from '../shared/reading.ts'
import { keepStatusMetadata } from '../shared/status-metadata.ts'
import type { Strategy } from '../strategy.ts'
import { mandatoryFlowSchemas } from './bootstrap.ts'
import { validateStatus } from './status.ts'

const distinguisherMethods = ['ByNamespace', 'ByUser']
const subjectKinds = ['Group', 'ServiceAccount', 'User']
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const maxPrecedence = 10000

export const flowSchemaStrategy: Strategy = defineStrategy<FlowSchema>({
  generation: true,
  default(object) {
    const spec = childOf(object, 'spec')
    if (numberOf(spec.matchingPrecedence) === 0) spec.matchingPrecedence = 1000
  },
  validate: object => validateFlowSchema(object),
  prepareForStatusUpdate: keepStatusMetadata,
  validateStatusUpdate: object => validateStatus(object),
  cells(object, now) {
    const { priorityLevelConfiguration, matchingPrecedence, distinguisherMethod } = object.spec ?? {}
    const dangling = (object.status?.conditions ?? []).find(({ type }) => type === 'Dangling')
    return {
      Name: nameCell(object),
      PriorityLevel: priorityLevelConfiguration?.name ?? '',
      MatchingPrecedence: numberOf(matchingPrecedence),
      DistinguisherMethod: distinguisherMethod ? (distinguisherMethod.type ?? '') : '<none>',
      Age: ageCell(object, now),
      MissingPL: dangling ? (dangling.status ?? '') : '?',
    }
  },
})

const printSpec = (spec: Decoded<FlowSchemaSpec>) => goValue('flowcontrol.FlowSchemaSpec', spec)

function* validateFlowSchema(object: Decoded<FlowSchema>): Findings {
  const own = nameCell(object)
  const spec = object.spec ?? {}
  const path = field.Path.of('spec')
  yield* validateSpec(own, spec, path)
  const fixed = mandatoryFlowSchemas.get(own)
  if (fixed && !deepEqual(printSpec(spec), printSpec(fixed)))
    yield field.invalid(path, printed(printSpec(spec)), `spec of '${own}' must equal the fixed value`)
  yield* validateStatus(object)
}

function* validateSpec(own: string, spec: Decoded<FlowSchemaSpec>, path: field.Path): Findings {
  const precedence = numberOf(spec.matchingPrecedence)
  const at = path.child('matchingPrecedence')
  if (precedence <= 0) yield field.invalid(at, precedence, 'must be a positive value')
  if (precedence > maxPrecedence)
    yield field.invalid(at, precedence, `must not be greater than ${maxPrecedence}`)
  if (precedence === 1 && own !== 'exempt')
    yield field.invalid(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
  if (spec.distinguisherMethod) {
    const type = spec.distinguisherMethod.type ?? ''
    if (!distinguisherMethods.includes(type))
      yield field.notSupported(
        path.child('distinguisherMethod', 'type'),
        printed(goValue('flowcontrol.FlowDistinguisherMethod', spec.distinguisherMethod)),
        distinguisherMethods,
      )
  }
  const level = spec.priorityLevelConfiguration?.name ?? ''
  const levelPath = path.child('priorityLevelConfiguration', 'name')
  if (level === '') yield field.required(levelPath, 'must reference a priority level')
  else yield* invalidBecause(levelPath, level, isDNS1123Subdomain(level))
  for (const [index, rule] of (spec.rules ?? []).entries())
    yield* validateRule(rule, path.child('rules').index(index))
}

function* validateRule(rule: Decoded<PolicyRulesWithSubjects>, path: field.Path): Findings {
  const subjects = rule.subjects ?? []
  if (subjects.length === 0)
    yield field.required(path.child('subjects'), 'subjects must contain at least one value')
  for (const [index, subject] of subjects.entries())
    yield* validateSubject(subject, path.child('subjects').index(index))
  const resourceRules = rule.resourceRules ?? []
  const nonResourceRules = rule.nonResourceRules ?? []
  if (resourceRules.length === 0 && nonResourceRules.length === 0)
    yield field.required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')
  for (const [index, resourceRule] of resourceRules.entries())
    yield* validateResourceRule(resourceRule, path.child('resourceRules').index(index))
  for (const [index, nonResourceRule] of nonResourceRules.entries())
    yield* validateNonResourceRule(nonResourceRule, path.child('nonResourceRules').index(index))
}

/** The member that belongs to each kind, in the order in which the others are forbidden. */
const subjectMembers = [
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
] as const

function* validateSubject(subject: Decoded<Subject>, path: field.Path): Findings {
  const own = subjectMembers.find(([kind]) => kind === subject.kind)
  if (!own) {
    yield field.notSupported(path.child('kind'), subject.kind ?? '', subjectKinds)
    return
  }
  const [kind, member] = own
  const value = subject[member]
  const at = path.child(member)
  if (!value) yield field.required(at, `${member} is required when subject kind is '${kind}'`)
  else if (kind === 'ServiceAccount') yield* validateAccount(value, at)
  else if ((value.name ?? '') === '') yield field.required(at.child('name'))
  for (const [otherKind, other] of subjectMembers)
    if (other !== member && subject[other])
      yield field.forbidden(
        path.child(other),
        `${other} is forbidden when subject kind is not '${otherKind}'`,
      )
}

function* validateAccount(account: Decoded<ServiceAccountSubject>, path: field.Path): Findings {
  const own = account.name ?? ''
  const namespace = account.namespace ?? ''
  if (own === '') yield field.required(path.child('name'))
  else if (own !== '*') yield* invalidBecause(path.child('name'), own, isDNS1123Subdomain(own))
  if (namespace === '')
    yield field.required(path.child('namespace'), 'must specify namespace for service account')
  else yield* invalidBecause(path.child('namespace'), namespace, isDNS1123Label(namespace))
}

function* validateVerbs(value: readonly string[] | null | undefined, path: field.Path): Findings {
  const found = value ?? []
  if (found.length === 0) yield field.required(path, 'verbs must contain at least one value')
  else if (found.includes('*')) yield* validateAlone(found, path, 'verbs')
  else if (!found.every(verb => verbs.includes(verb))) yield field.notSupported(path, found, verbs)
}

function* validateAlone(values: readonly string[], path: field.Path, what: string): Findings {
  if (values.length > 1 && values.includes('*'))
    yield field.invalid(path, values, `if '*' is present, must not specify other ${what}`)
}

function* validateResourceRule(rule: Decoded<ResourcePolicyRule>, path: field.Path): Findings {
  yield* validateVerbs(rule.verbs, path.child('verbs'))
  const groups = rule.apiGroups ?? []
  if (groups.length === 0)
    yield field.required(path.child('apiGroups'), 'resource rules must supply at least one api group')
  yield* validateAlone(groups, path.child('apiGroups'), 'api groups')
  const resources = rule.resources ?? []
  if (resources.length === 0)
    yield field.required(path.child('resources'), 'resource rules must supply at least one resource')
  yield* validateAlone(resources, path.child('resources'), 'resources')
  const namespaces = rule.namespaces ?? []
  const at = path.child('namespaces')
  if (namespaces.length === 0 && rule.clusterScope !== true)
    yield field.required(at, 'resource rules that are not cluster scoped must supply at least one namespace')
  else if (namespaces.includes('*')) yield* validateAlone(namespaces, at, 'namespaces')
  else
    for (const [index, namespace] of namespaces.entries())
      for (const message of isDNS1123Label(namespace))
        yield field.invalid(
          at.index(index),
          namespace,
          `each member of this list must be '*' or a DNS-1123 label; ${message}`,
        )
}

function* validateNonResourceRule(rule: Decoded<NonResourcePolicyRule>, path: field.Path): Findings {
  yield* validateVerbs(rule.verbs, path.child('verbs'))
  const urls = rule.nonResourceURLs ?? []
  const at = path.child('nonResourceURLs')
  if (urls.length === 0) yield field.required(at, 'nonResourceURLs must contain at least one value')
  else if (urls.includes('*')) yield* validateAlone(urls, at, 'non-resource URLs')
  else
    for (const [index, url] of urls.entries()) {
      const problem = describeBadPath(url)
      if (problem !== undefined) yield field.invalid(at.index(index), url, problem)
    }
}

function describeBadPath(path: string): string | undefined {
  if (path === '') return 'must not be empty'
  if (path === '/') return undefined
  if (!path.startsWith('/')) return 'must start with slash'
  if (path.includes(' ')) return 'must not contain white-space'
  if (path.includes('//')) return 'must not contain double slash'
  const wildcards = path.split('*').length - 1
  if (wildcards > 1 || (wildcards === 1 && !path.endsWith('/*')))
    return 'wildcard can only do suffix matching'
  return undefined
}
