import { encodeText } from '@coxswain/kit'
import { codePointLength } from './text.ts'
import { isMapValue, isOpaque, ListValue, OptionalValue, type Value } from './values.ts'

/**
 * What a call costs at run time: cel-go's table with Kubernetes' additions. A number where it does not depend on the
 * values. "Size" is what `size()` answers, and 1 for values without one.
 */
export type CallCost = number | ((args: readonly Value[], result: Value) => number)

const stringFactor = 0.1
const regexFactor = 0.25

export function sizeForCost(value: Value | undefined): number {
  if (typeof value === 'string') return codePointLength(value)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Uint8Array) return value.length
  if (value instanceof ListValue || isMapValue(value)) return value.size
  if (value instanceof OptionalValue) return value.value === undefined ? 1 : sizeForCost(value.value)
  if (isOpaque(value)) return value.celSize?.() ?? 1
  return 1
}

const traversal = (size: number): number => Math.ceil(size * stringFactor)
const ofFirst: CallCost = args => traversal(sizeForCost(args[0]))
const smaller: CallCost = args => traversal(Math.min(sizeForCost(args[0]), sizeForCost(args[1])))
const bothSides: CallCost = args => traversal(sizeForCost(args[0]) + sizeForCost(args[1]))
const twiceFirst: CallCost = args => Math.ceil(sizeForCost(args[0]) * 2 * stringFactor)
const regex: CallCost = args =>
  Math.ceil((1 + sizeForCost(args[0])) * stringFactor) * Math.ceil(sizeForCost(args[1]) * regexFactor)
const selector: CallCost = args => {
  const length = sizeForCost(args[1])
  return 10 + traversal(length) + Math.ceil(Math.ceil(length * 0.5) * 50)
}
const wholeTree: CallCost = args => traverse(args[0] as Value)
const product: CallCost = args => sizeForCost(args[0]) * sizeForCost(args[1]) + 1
const ofResult: CallCost = (_, result) => 11 + sizeForCost(result)

/** Functions that compare the elements of a list with one another. */
function selfCompare(list: Value | undefined): number {
  if (!(list instanceof ListValue) || list.size === 0) return 11
  const first = list.at(0)
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2.1 : 2
  return 11 + Math.trunc(list.size * list.size * factor)
}

/** The cost of looking at every part of a value. */
export function traverse(value: Value): number {
  if (typeof value === 'string') return Math.trunc(encodeText(value).length * stringFactor)
  if (value instanceof Uint8Array) return Math.trunc(value.length * stringFactor)
  if (value instanceof ListValue)
    return value.toArray().reduce<number>((sum, item) => sum + traverse(item), 0)
  if (typeof value === 'object' && value !== null && isMapValue(value)) {
    return value
      .keys()
      .reduce<number>((sum, key) => sum + traverse(key) + traverse(value.get(key) as Value), 0)
  }
  return 1
}

const containsNetwork =
  (isCidr: boolean): CallCost =>
  args => {
    const size = sizeForCost(args[0])
    const compared = Math.ceil((size + size) * stringFactor) + (isCidr ? traversal(size) + 1 : 0)
    return typeof args[1] === 'string' ? compared + traversal(sizeForCost(args[1])) : compared
  }

/** By function name: what Kubernetes adds or changes. Consulted before the overloads. */
const byFunction: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ['check', 350_000],
  ...['fieldSelector', 'labelSelector'].map(fn => [fn, selector] as const),
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map(fn => [fn, wholeTree] as const),
  ...['url', 'lowerAscii', 'upperAscii', 'substring', 'trim', 'jsonpatch.escapeKey'].map(
    fn => [fn, ofFirst] as const,
  ),
  ...['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'].map(
    fn => [fn, ofFirst] as const,
  ),
  ['replace', twiceFirst],
  ['split', twiceFirst],
  ['ip.isCanonical', twiceFirst],
  ['join', (_, result) => Math.ceil(sizeForCost(result) * 2 * stringFactor)],
  ['find', regex],
  ['findAll', regex],
  ['containsIP', containsNetwork(false)],
  ['containsCIDR', containsNetwork(true)],
  [
    'validate',
    args => {
      const format = args[0] as { maxRegexSize?: number } | null
      const text = Math.ceil((1 + sizeForCost(args[1])) * stringFactor)
      return text * Math.ceil((format?.maxRegexSize ?? 0) * regexFactor)
    },
  ],
  ...['sets.contains', 'sets.intersects'].map(fn => [fn, product] as const),
  ['sets.equivalent', args => 1 + 2 * sizeForCost(args[0]) * sizeForCost(args[1])],
  ['distinct', args => selfCompare(args[0])],
  ['sort', args => selfCompare(args[0])],
  ['@sortByAssociatedKeys', args => selfCompare(args[1])],
  ['flatten', args => 11 + Math.trunc(sizeForCost(args[0]) * (args.length === 2 ? Number(args[1]) : 1))],
  ...['lists.range', 'reverse', 'slice'].map(fn => [fn, ofResult] as const),
])

const ordering = ['less', 'greater', 'less_equals', 'greater_equals']
const byOverload: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ...['starts_with_string', 'ends_with_string', 'string_to_bytes', 'bytes_to_string'].map(
    id => [id, ofFirst] as const,
  ),
  ...['strings_quote', 'string_format'].map(id => [id, ofFirst] as const),
  ['in_list', args => sizeForCost(args[1])],
  ...ordering.flatMap(name => [[`${name}_string`, smaller] as const, [`${name}_bytes`, smaller] as const]),
  ['add_string', bothSides],
  ['add_bytes', bothSides],
  ['matches_string', regex],
  ['contains_string', args => traversal(sizeForCost(args[0])) * traversal(sizeForCost(args[1]))],
])

export function callCost(fn: string, overloadId: string): CallCost {
  if (fn === 'ip') return overloadId === 'cidr_ip' ? 1 : ofFirst
  return byFunction.get(fn) ?? byOverload.get(overloadId) ?? 1
}

/** `==` and `!=`; only the former knows that Kubernetes' own types compare in one step. */
export function equalityCost(a: Value, b: Value, isEquals: boolean): number {
  if (isEquals && typeof a === 'object' && a !== null && isOpaque(a)) return 1
  return traversal(Math.min(sizeForCost(a), sizeForCost(b)))
}
