import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { RequestContext, UserInfo } from '../request/context.ts'
import type { RequestInfo } from '../request/request-info.ts'

/** A FlowSchema with compiled rules. */
export interface FlowSchema {
  readonly name: string
  readonly uid: string
  readonly precedence: number
  /** The PriorityLevelConfiguration that it refers to. */
  readonly level: string
  matches(user: UserInfo, info: RequestInfo): boolean
  /** Requests of one flow wait in the same few queues: those of a user, of a namespace, or of the whole schema. */
  flowOf(context: RequestContext): string
}

const serviceAccountPrefix = 'system:serviceaccount:'
const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const namesOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

export function compileFlowSchema(object: JsonObject): FlowSchema {
  const { name = '', uid = '' } = objectOf(object.metadata) as { name?: string; uid?: string }
  const spec = objectOf(object.spec)
  const rules = listOf(spec.rules).map(compileRule)
  const method = objectOf(spec.distinguisherMethod).type
  return {
    name,
    uid,
    precedence: Number(spec.matchingPrecedence ?? 1000),
    level: String(objectOf(spec.priorityLevelConfiguration).name ?? ''),
    matches: (user, info) => rules.some(rule => rule.isFrom(user) && rule.isFor(info)),
    flowOf: ({ user, info }) => {
      if (method === 'ByUser') return user.name
      return method === 'ByNamespace' && info.isResource ? info.namespace : ''
    },
  }
}

/** The order in which they are matched. */
export function comparePrecedence(a: FlowSchema, b: FlowSchema): number {
  return a.precedence - b.precedence || (a.name < b.name ? -1 : 1)
}

interface Rule {
  isFrom(user: UserInfo): boolean
  isFor(info: RequestInfo): boolean
}

function compileRule(rule: JsonObject): Rule {
  const users = new Set<string>()
  const groups = new Set<string>()
  const accountNamespaces = new Set<string>()
  for (const subject of listOf(rule.subjects)) {
    if (subject.kind === 'User') users.add(String(objectOf(subject.user).name))
    else if (subject.kind === 'Group') groups.add(String(objectOf(subject.group).name))
    else {
      const { namespace, name } = objectOf(subject.serviceAccount)
      if (name === '*') accountNamespaces.add(String(namespace))
      else users.add(`${serviceAccountPrefix}${namespace}:${name}`)
    }
  }
  const resources = listOf(rule.resourceRules).map(compileResources)
  const paths = listOf(rule.nonResourceRules).map(compilePaths)
  const isEverybody = users.has('*') || groups.has('*')
  return {
    isFrom: ({ name, groups: of }) =>
      isEverybody ||
      users.has(name) ||
      of.some(group => groups.has(group)) ||
      (accountNamespaces.size > 0 &&
        name.startsWith(serviceAccountPrefix) &&
        accountNamespaces.has(name.split(':')[2] ?? '')),
    isFor: info => (info.isResource ? resources : paths).some(matches => matches(info)),
  }
}

const has = (names: readonly string[], name: string): boolean => names.includes('*') || names.includes(name)

function compileResources(rule: JsonObject): (info: RequestInfo) => boolean {
  const verbs = namesOf(rule.verbs)
  const groups = namesOf(rule.apiGroups)
  const resources = namesOf(rule.resources)
  const namespaces = namesOf(rule.namespaces)
  return info => {
    if (!info.isResource || !has(verbs, info.verb) || !has(groups, info.group)) return false
    const { resource, subresource, namespace } = info
    if (!has(resources, subresource === '' ? resource : `${resource}/${subresource}`)) return false
    return namespace === '' ? rule.clusterScope === true : has(namespaces, namespace)
  }
}

function compilePaths(rule: JsonObject): (info: RequestInfo) => boolean {
  const verbs = namesOf(rule.verbs)
  const urls = namesOf(rule.nonResourceURLs)
  return info =>
    !info.isResource &&
    has(verbs, info.verb) &&
    urls.some(
      url =>
        url === '*' || url === info.path || (url.endsWith('/*') && info.path.startsWith(url.slice(0, -1))),
    )
}
