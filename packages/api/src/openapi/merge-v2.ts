import { deepEqual } from '@coxswain/apimachinery/json'
import type { Definition } from '../table/definition.ts'
import { encodeOpenApiV2 } from './gnostic-v2.ts'
import { collectMembers, type Member, Members } from './members.ts'

/** The parts of another server's OpenAPI v2 document that are merged into this one's. */
export interface ForeignOpenApiV2 {
  readonly paths: Readonly<Record<string, Definition>>
  readonly definitions: Readonly<Record<string, Definition>>
  readonly parameters: Readonly<Record<string, Definition>>
}

const definitionPrefix = '#/definitions/'
const parameterPrefix = '#/parameters/'
const kinds = 'x-kubernetes-group-version-kind'

/**
 * The document with the paths of other servers and what they need. Where two have the same path, the first wins; definitions and
 * parameters that differ get another name (`NAME_v2`), as kube-aggregator has it.
 */
export function mergeOpenApiV2(own: Members, others: readonly ForeignOpenApiV2[]): Members {
  return others.reduce(mergeOne, own)
}

function mergeOne(own: Members, other: ForeignOpenApiV2): Members {
  return new Members(function* () {
    const present = yield* findPresent(own, other)
    const paths = Object.entries(other.paths).filter(([path]) => !present.paths.has(path))
    const definitions = renamesOf(other.definitions, present.definitions, isSameDefinition)
    const parameters = renamesOf(other.parameters, present.parameters, deepEqual)
    const rename = (value: unknown) => renameReferences(value, definitions, parameters)
    const added = (map: Readonly<Record<string, Definition>>, renames: ReadonlyMap<string, string>) =>
      Object.entries(map).map(([name, value]): [string, unknown] => [
        renames.get(name) ?? name,
        rename(value),
      ])
    const newDefinitions = new Map(paths.length > 0 ? added(other.definitions, definitions) : [])
    const newParameters = new Map(paths.length > 0 ? added(other.parameters, parameters) : [])
    for (const member of own.read()) {
      if (member?.[0] === 'paths')
        yield ['paths', followed(member[1], new Map(paths.map(([path, item]) => [path, rename(item)])))]
      else if (member?.[0] === 'definitions') yield ['definitions', followed(member[1], newDefinitions)]
      else if (member?.[0] === 'parameters')
        yield ['parameters', collectMembers(followed(member[1], newParameters))]
      else yield member
    }
  })
}

interface Present {
  readonly paths: ReadonlySet<string>
  readonly definitions: ReadonlyMap<string, unknown>
  readonly parameters: ReadonlyMap<string, unknown>
}

/** Of `own`, only what could be in the way. */
function* findPresent(own: Members, other: ForeignOpenApiV2): Generator<undefined, Present, undefined> {
  const paths = new Set<string>()
  const definitions = new Map<string, unknown>()
  const parameters = new Map<string, unknown>()
  for (const member of own.read()) {
    yield undefined
    if (!member) continue
    for (const entry of membersOf(member[1])) {
      yield undefined
      if (!entry) continue
      const [name, value] = entry
      // `_v2` and so on are taken too.
      if (member[0] === 'paths') paths.add(name)
      else if (member[0] === 'definitions' && baseOf(name) in other.definitions) definitions.set(name, value)
      else if (member[0] === 'parameters') parameters.set(name, value)
    }
  }
  return { paths, definitions, parameters }
}

function baseOf(name: string): string {
  return name.replace(/_v\d+$/, '')
}

function* membersOf(value: unknown): Generator<Member, void, undefined> {
  if (value instanceof Members) yield* value.read()
  else if (typeof value === 'object' && value !== null) yield* Object.entries(value)
}

/** New names for entries that would replace a different one. */
function renamesOf(
  entries: Readonly<Record<string, Definition>>,
  present: ReadonlyMap<string, unknown>,
  isSame: (a: unknown, b: unknown) => boolean,
): ReadonlyMap<string, string> {
  const renames = new Map<string, string>()
  const taken = new Set(Object.keys(entries))
  for (const [name, value] of Object.entries(entries)) {
    if (!present.has(name) || isSame(present.get(name), value)) continue
    for (let i = 2; ; i++) {
      const candidate = `${name}_v${i}`
      const isReusable = present.has(candidate) && isSame(present.get(candidate), value)
      if (!isReusable && (present.has(candidate) || taken.has(candidate))) continue
      renames.set(name, candidate)
      taken.add(candidate)
      break
    }
  }
  return renames
}

/** The kinds that a definition stands for do not count: each server lists its own. */
function isSameDefinition(a: unknown, b: unknown): boolean {
  return deepEqual(withoutKinds(a), withoutKinds(b))
}

function withoutKinds(value: unknown): unknown {
  const { [kinds]: _, ...rest } = value as Definition
  return rest
}

/** `value`, then those of `more` that it does not have. Definitions of both have the kinds of both. */
function followed(value: unknown, more: Map<string, unknown>): Members {
  return new Members(function* () {
    const left = new Map(more)
    for (const member of membersOf(value)) {
      const also = member && left.get(member[0])
      if (also === undefined) {
        yield member
        continue
      }
      left.delete(member![0])
      yield [member![0], withKinds(member![1], also)]
    }
    yield* left
  })
}

function withKinds(present: unknown, other: unknown): unknown {
  const { [kinds]: before, ...rest } = present as Definition
  const { [kinds]: also } = other as Definition
  if (!Array.isArray(also)) return present
  const known = Array.isArray(before) ? before : []
  const more = also.filter(kind => !known.some(one => deepEqual(one, kind)))
  return more.length === 0 ? present : { ...rest, [kinds]: [...known, ...more] }
}

function renameReferences(
  value: unknown,
  definitions: ReadonlyMap<string, string>,
  parameters: ReadonlyMap<string, string>,
): unknown {
  if (definitions.size === 0 && parameters.size === 0) return value
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit)
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(
      Object.entries(node).map(([name, child]) => [
        name,
        name === '$ref' && typeof child === 'string' ? renamed(child) : visit(child),
      ]),
    )
  }
  const renamed = (reference: string) => {
    const [prefix, renames] = reference.startsWith(definitionPrefix)
      ? [definitionPrefix, definitions]
      : [parameterPrefix, parameters]
    const name = reference.startsWith(prefix) ? renames.get(reference.slice(prefix.length)) : undefined
    return name === undefined ? reference : prefix + name
  }
  return visit(value)
}

/** How deep a document may be nested: real ones have some thirty levels. */
const depthLimit = 200

/**
 * The part of a parsed document below `prefix`: its paths and what they refer to. Throws an Error for a document that is not OpenAPI v2, or
 * cannot be encoded.
 */
export function filterOpenApiV2(document: unknown, prefix: string): ForeignOpenApiV2 {
  const { swagger, paths, definitions, parameters } = recordOf(document, 'the document')
  if (swagger !== '2.0') throw new Error('not an OpenAPI v2 document')
  const kept = Object.fromEntries(
    Object.entries(recordOf(paths, 'paths')).filter(([path]) => path.startsWith(prefix)),
  )
  const known = {
    definitions: recordOf(definitions, 'definitions'),
    parameters: recordOf(parameters, 'parameters'),
  }
  const used = { definitions: new Map<string, unknown>(), parameters: new Map<string, unknown>() }
  const waiting: unknown[] = Object.values(kept)
  const use = (reference: string) => {
    const [, kind, name] = /^#\/(definitions|parameters)\/(.+)$/.exec(reference) ?? []
    if (name === undefined || (kind !== 'definitions' && kind !== 'parameters')) return
    if (used[kind].has(name) || !Object.hasOwn(known[kind], name)) return
    const value = recordOf(known[kind][name], name)
    used[kind].set(name, value)
    waiting.push(value)
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) collectReferences(next, use, 0)
  const found = {
    paths: mapRecords(kept),
    definitions: mapRecords(Object.fromEntries(used.definitions)),
    parameters: mapRecords(Object.fromEntries(used.parameters)),
  }
  // What cannot be encoded alone would spoil the document that it is merged into.
  for (const _ of encodeOpenApiV2(mergeOpenApiV2(nothing, [found])));
  return found
}

const nothing = new Members(() => [
  ['paths', new Members(() => [])],
  ['definitions', new Members(() => [])],
  ['parameters', {}],
])

function collectReferences(node: unknown, use: (reference: string) => void, depth: number): void {
  if (typeof node !== 'object' || node === null) return
  if (depth > depthLimit) throw new Error('nested too deeply')
  for (const [name, child] of Object.entries(node)) {
    if (name === '$ref' && typeof child === 'string') use(child)
    else collectReferences(child, use, depth + 1)
  }
}

function mapRecords(map: Record<string, unknown>): Record<string, Definition> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, recordOf(value, name)]))
}

function recordOf(value: unknown, what: string): Definition {
  if (value === undefined || value === null) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as Definition
  throw new Error(`${what} is not an object`)
}
