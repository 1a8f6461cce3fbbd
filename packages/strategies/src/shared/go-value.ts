import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { goTypes } from './go-types.ts'

interface Member {
  readonly go: string
  readonly json: string
  readonly kind: string
}

let parsed: ReadonlyMap<string, readonly Member[]> | undefined

function membersOf(type: string): readonly Member[] {
  parsed ??= new Map(goTypes.map(parseType))
  return parsed.get(type) ?? []
}

function parseType(line: string): [string, Member[]] {
  const [type = '', ...members] = line.split(' ')
  return [type, members.map(parseMember)]
}

function parseMember(text: string): Member {
  if (text.startsWith('@')) return { go: '', json: '', kind: text }
  const [names = '', kind = ''] = text.split(':')
  const [go = '', json = go.charAt(0).toLowerCase() + go.slice(1)] = names.split('/')
  return { go, json, kind }
}

const zeros: Readonly<Record<string, unknown>> = { s: '', i: 0, b: false, q: '0' }

/** A value as the Go type of this name would be printed: every member, in its order, under its name. */
export function goValue(type: string, value: JsonObject): JsonObject {
  const source = type === 'PodSpec' ? withHostSettings(value) : value
  const result: JsonObject = {}
  for (const { go, json, kind } of membersOf(type)) {
    if (kind === '@ObjectMeta') Object.assign(result, isObject(source.metadata) ? source.metadata : {})
    else if (kind.startsWith('@')) Object.assign(result, goValue(kind.slice(1), source))
    else result[go] = goMember(kind, source[json])
  }
  return result
}

function goMember(kind: string, value: unknown): unknown {
  const type = kind.replace(/^(?:\[\]|[?=])/, '')
  if (kind.startsWith('=')) return goValue(type, isObject(value) ? value : {})
  if (value === undefined || value === null) return zeros[kind] ?? null
  if (kind === '{}') return sorted(value as JsonObject)
  if (type === '' || type === kind) return value
  if (Array.isArray(value)) return value.map(item => goValue(type, item as JsonObject))
  return goValue(type, value as JsonObject)
}

const sorted = (map: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(map).sort(([one], [other]) => (one < other ? -1 : 1)))

const hostSettings = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers']

/** Go keeps what a pod shares with its host among its security settings. */
function withHostSettings(spec: JsonObject): JsonObject {
  const context: JsonObject = isObject(spec.securityContext) ? { ...spec.securityContext } : {}
  for (const setting of hostSettings) if (spec[setting] !== undefined) context[setting] = spec[setting]
  return { ...spec, securityContext: context }
}
