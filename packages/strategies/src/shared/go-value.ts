import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type GoType, goTypes } from '../gen/go-types.ts'

interface Member {
  readonly go: string
  readonly json: string
  readonly kind: string
}

const parsed = new Map<GoType, readonly Member[]>()

function membersOf(type: GoType): readonly Member[] {
  let members = parsed.get(type)
  if (!members) {
    members = goTypes[type].split(' ').map(parseMember)
    parsed.set(type, members)
  }
  return members
}

function parseMember(text: string): Member {
  if (text.startsWith('@/')) return { go: '', json: text.slice(2), kind: '@' }
  if (text.startsWith('@')) return { go: '', json: '', kind: text }
  const [names = '', kind = ''] = text.split(':')
  const [go = '', json = go.charAt(0).toLowerCase() + go.slice(1)] = names.split('/')
  return { go, json, kind }
}

const zeros: Readonly<Record<string, unknown>> = { s: '', i: 0, b: false, q: '0' }

/**
 * A value as its internal type of kube-apiserver prints: every field, in the order of Go, under its Go name, with the zero
 * value where it is absent. kube-apiserver validates these types, which have no JSON names, and some messages print them.
 */
export function goValue(type: GoType, value: object): JsonObject {
  const given = value as JsonObject
  const source = type === 'core.PodSpec' ? withHostSettings(given) : given
  const result: JsonObject = {}
  for (const { go, json, kind } of membersOf(type)) {
    if (kind === '@') Object.assign(result, source[json])
    else if (kind.startsWith('@')) Object.assign(result, goValue(kind.slice(1) as GoType, source))
    else result[go] = goMember(kind, source[json])
  }
  return result
}

function goMember(kind: string, value: unknown): unknown {
  const type = kind.replace(/^(?:\[\]|\{\}|[?=])/, '') as GoType | ''
  if (kind.startsWith('=')) return goValue(type as GoType, isObject(value) ? value : {})
  if (value === undefined || value === null) return zeros[kind] ?? null
  if (kind.startsWith('{}')) return goMap(value as JsonObject, type)
  if (type === '' || type === kind) return value
  if (Array.isArray(value)) return value.map(item => goValue(type, item as JsonObject))
  return goValue(type, value as JsonObject)
}

function goMap(map: JsonObject, type: GoType | ''): JsonObject {
  const ordered = inKeyOrder(map)
  if (type === '') return ordered
  return Object.fromEntries(
    Object.entries(ordered).map(([key, item]) => [key, goValue(type, item as JsonObject)]),
  )
}

/** Go prints maps in the order of their keys. */
export const inKeyOrder = (map: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(map).sort(([one], [other]) => (one < other ? -1 : 1)))

const hostSettings = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers']

/** The internal PodSpec has what a Pod shares with its node in its security context. */
function withHostSettings(spec: JsonObject): JsonObject {
  const context: JsonObject = isObject(spec.securityContext) ? { ...spec.securityContext } : {}
  for (const setting of hostSettings) if (spec[setting] !== undefined) context[setting] = spec[setting]
  return { ...spec, securityContext: context }
}
