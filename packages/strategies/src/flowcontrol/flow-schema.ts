import * as field from '@coxswain/apimachinery/field'
import { childObject, deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { isDNS1123Label, isDNS1123Subdomain } from '@coxswain/apimachinery/validation'
import { ageCell, nameCell } from '../shared/cells.ts'
import { embedded, flag, list, number, plain, pointer, struct, text } from '../shared/go-form.ts'
import {
  type Findings,
  invalidBecause,
  listOf,
  numberOf,
  objectOf,
  printed,
  stringsOf,
  textOf,
} from '../shared/reading.ts'
import { keepStatusMetadata } from '../shared/status-metadata.ts'
import type { Strategy } from '../strategy.ts'
import { mandatoryFlowSchemas } from './bootstrap.ts'
import { validateStatus } from './status.ts'

const distinguisherMethods = ['ByNamespace', 'ByUser']
const subjectKinds = ['Group', 'ServiceAccount', 'User']
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const maxPrecedence = 10000

export const flowSchemaStrategy: Strategy = {
  generation: true,
  default(object) {
    const spec = childObject(object, 'spec')
    if (numberOf(spec.matchingPrecedence) === 0) spec.matchingPrecedence = 1000
  },
  validate: object => validateFlowSchema(object),
  prepareForStatusUpdate: keepStatusMetadata,
  validateStatusUpdate: object => validateStatus(object),
  cells(object, now) {
    const { priorityLevelConfiguration, matchingPrecedence, distinguisherMethod } = objectOf(object.spec)
    const dangling = listOf(objectOf(object.status).conditions).find(({ type }) => type === 'Dangling')
    return [
      nameCell(object),
      textOf(objectOf(priorityLevelConfiguration).name),
      numberOf(matchingPrecedence),
      isObject(distinguisherMethod) ? textOf(distinguisherMethod.type) : '<none>',
      ageCell(object, now),
      dangling ? textOf(dangling.status) : '?',
    ]
  },
}

const name = struct({ Name: text('name') })
const specForm = struct({
  PriorityLevelConfiguration: embedded('priorityLevelConfiguration', name),
  MatchingPrecedence: number('matchingPrecedence'),
  DistinguisherMethod: pointer('distinguisherMethod', struct({ Type: text('type') })),
  Rules: list(
    'rules',
    struct({
      Subjects: list(
        'subjects',
        struct({
          Kind: text('kind'),
          User: pointer('user', name),
          Group: pointer('group', name),
          ServiceAccount: pointer(
            'serviceAccount',
            struct({ Namespace: text('namespace'), Name: text('name') }),
          ),
        }),
      ),
      ResourceRules: list(
        'resourceRules',
        struct({
          Verbs: plain('verbs'),
          APIGroups: plain('apiGroups'),
          Resources: plain('resources'),
          ClusterScope: flag('clusterScope'),
          Namespaces: plain('namespaces'),
        }),
      ),
      NonResourceRules: list(
        'nonResourceRules',
        struct({ Verbs: plain('verbs'), NonResourceURLs: plain('nonResourceURLs') }),
      ),
    }),
  ),
})

function* validateFlowSchema(object: JsonObject): Findings {
  const own = nameCell(object)
  const spec = objectOf(object.spec)
  const path = field.Path.of('spec')
  yield* validateSpec(own, spec, path)
  const fixed = mandatoryFlowSchemas.get(own)
  if (fixed && !deepEqual(specForm(spec), specForm(fixed)))
    yield field.invalid(path, printed(specForm(spec)), `spec of '${own}' must equal the fixed value`)
  yield* validateStatus(object)
}

function* validateSpec(own: string, spec: JsonObject, path: field.Path): Findings {
  const precedence = numberOf(spec.matchingPrecedence)
  const at = path.child('matchingPrecedence')
  if (precedence <= 0) yield field.invalid(at, precedence, 'must be a positive value')
  if (precedence > maxPrecedence)
    yield field.invalid(at, precedence, `must not be greater than ${maxPrecedence}`)
  if (precedence === 1 && own !== 'exempt')
    yield field.invalid(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
  if (isObject(spec.distinguisherMethod)) {
    const type = textOf(spec.distinguisherMethod.type)
    if (!distinguisherMethods.includes(type))
      yield field.notSupported(
        path.child('distinguisherMethod', 'type'),
        printed({ Type: type }),
        distinguisherMethods,
      )
  }
  const level = textOf(objectOf(spec.priorityLevelConfiguration).name)
  const levelPath = path.child('priorityLevelConfiguration', 'name')
  if (level === '') yield field.required(levelPath, 'must reference a priority level')
  else yield* invalidBecause(levelPath, level, isDNS1123Subdomain(level))
  for (const [index, rule] of listOf(spec.rules).entries())
    yield* validateRule(rule, path.child('rules').index(index))
}

function* validateRule(rule: JsonObject, path: field.Path): Findings {
  const subjects = listOf(rule.subjects)
  if (subjects.length === 0)
    yield field.required(path.child('subjects'), 'subjects must contain at least one value')
  for (const [index, subject] of subjects.entries())
    yield* validateSubject(subject, path.child('subjects').index(index))
  const resourceRules = listOf(rule.resourceRules)
  const nonResourceRules = listOf(rule.nonResourceRules)
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

function* validateSubject(subject: JsonObject, path: field.Path): Findings {
  const own = subjectMembers.find(([kind]) => kind === subject.kind)
  if (!own) {
    yield field.notSupported(path.child('kind'), textOf(subject.kind), subjectKinds)
    return
  }
  const [kind, member] = own
  const value = subject[member]
  const at = path.child(member)
  if (!isObject(value)) yield field.required(at, `${member} is required when subject kind is '${kind}'`)
  else if (kind === 'ServiceAccount') yield* validateAccount(value, at)
  else if (textOf(value.name) === '') yield field.required(at.child('name'))
  for (const [otherKind, other] of subjectMembers)
    if (other !== member && isObject(subject[other]))
      yield field.forbidden(
        path.child(other),
        `${other} is forbidden when subject kind is not '${otherKind}'`,
      )
}

function* validateAccount(account: JsonObject, path: field.Path): Findings {
  const own = textOf(account.name)
  const namespace = textOf(account.namespace)
  if (own === '') yield field.required(path.child('name'))
  else if (own !== '*') yield* invalidBecause(path.child('name'), own, isDNS1123Subdomain(own))
  if (namespace === '')
    yield field.required(path.child('namespace'), 'must specify namespace for service account')
  else yield* invalidBecause(path.child('namespace'), namespace, isDNS1123Label(namespace))
}

function* validateVerbs(value: unknown, path: field.Path): Findings {
  const found = stringsOf(value)
  if (found.length === 0) yield field.required(path, 'verbs must contain at least one value')
  else if (found.includes('*')) yield* validateAlone(found, path, 'verbs')
  else if (!found.every(verb => verbs.includes(verb))) yield field.notSupported(path, found, verbs)
}

function* validateAlone(values: readonly string[], path: field.Path, what: string): Findings {
  if (values.length > 1 && values.includes('*'))
    yield field.invalid(path, values, `if '*' is present, must not specify other ${what}`)
}

function* validateResourceRule(rule: JsonObject, path: field.Path): Findings {
  yield* validateVerbs(rule.verbs, path.child('verbs'))
  const groups = stringsOf(rule.apiGroups)
  if (groups.length === 0)
    yield field.required(path.child('apiGroups'), 'resource rules must supply at least one api group')
  yield* validateAlone(groups, path.child('apiGroups'), 'api groups')
  const resources = stringsOf(rule.resources)
  if (resources.length === 0)
    yield field.required(path.child('resources'), 'resource rules must supply at least one resource')
  yield* validateAlone(resources, path.child('resources'), 'resources')
  const namespaces = stringsOf(rule.namespaces)
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

function* validateNonResourceRule(rule: JsonObject, path: field.Path): Findings {
  yield* validateVerbs(rule.verbs, path.child('verbs'))
  const urls = stringsOf(rule.nonResourceURLs)
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
