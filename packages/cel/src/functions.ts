import { typeOfValue } from './equality.ts'
import { type CelType, parseType, splitTopLevel } from './types.ts'
import { fault, isMapValue, isOpaque, ListValue, OptionalValue, TypeValue, type Value } from './values.ts'

export type Implementation = (...args: never[]) => Value

/** One signature of a function, with what computes it. A member's receiver is its first argument. */
export interface Overload {
  readonly id: string
  readonly fn: string
  readonly member: boolean
  readonly args: readonly CelType[]
  readonly result: CelType
  /** Its types have parameters, which each use fills anew. */
  readonly generic: boolean
  readonly implementation: (...args: Value[]) => Value
}

/** A set of functions, and the type names that identifiers may denote. */
export interface Library {
  readonly name: string
  readonly overloads: readonly Overload[]
  readonly types?: readonly CelType[]
}

const signaturePattern = /^(\S+?)\((.*)\): (.+)$/

/** Declares an overload: `overload('matches_string', 'matches(this string, string): bool', ...)`. */
export function overload(id: string, signature: string, implementation: Implementation): Overload {
  const found = signaturePattern.exec(signature)
  if (found === null) throw new TypeError(`not a signature: ${signature}`)
  const [, fn = '', list = '', result = ''] = found
  const member = list.startsWith('this ')
  const args = splitTopLevel(member ? list.slice(5) : list).map(parseType)
  const returns = parseType(result)
  return {
    id,
    fn,
    member,
    args,
    result: returns,
    generic: [returns, ...args].some(hasParam),
    implementation: implementation as unknown as (...args: Value[]) => Value,
  }
}

function hasParam(type: CelType): boolean {
  return type.kind === 'param' || type.params.some(hasParam)
}

/** Whether a value may be passed where a type is declared; elements and keys are not looked at. */
export function accepts(type: CelType, value: Value): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
    case 'error':
      return true
    case 'list':
      return value instanceof ListValue
    case 'map':
    case 'object':
      return isMapValue(value)
    case 'type':
      return value instanceof TypeValue
    case 'opaque':
      if (type.name === 'optional_type') return value instanceof OptionalValue
      return isOpaque(value) && value.celType.name === type.name
    default:
      return typeOfValue(value).kind === type.kind
  }
}

function acceptsAll(overloaded: Overload, args: readonly Value[]): boolean {
  for (let i = 0; i < args.length; i++) {
    if (!accepts(overloaded.args[i] as CelType, args[i] as Value)) return false
  }
  return true
}

/** Functions that cel-go implements on the values themselves name no types. */
const traits: ReadonlySet<string> = new Set([
  'contains',
  'endsWith',
  'startsWith',
  'matches',
  '!_',
  '-_',
  '@in',
])

export function noSuchOverload(fn: string, args: readonly Value[]): never {
  if (traits.has(fn)) return fault('no such overload')
  if (fn === 'size') return fault('no such overload: size')
  return fault(`no such overload: ${fn}(${args.map(a => typeOfValue(a).name).join(', ')})`)
}

/** Finds the overload for the values at hand: what dynamic typing needs. */
export function dispatch(fn: string, candidates: readonly Overload[], args: readonly Value[]): Value {
  for (const candidate of candidates) {
    if (candidate.args.length === args.length && acceptsAll(candidate, args))
      return candidate.implementation(...args)
  }
  return noSuchOverload(fn, args)
}
