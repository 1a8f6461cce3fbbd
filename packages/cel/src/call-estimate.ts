import type { Expr } from './ast.ts'
import { type Estimate, exactly, one, plus, scaled, times, unbounded, unknownSize } from './estimate.ts'
import type { CelType } from './types.ts'

/** What the estimate of a call may look at. */
export interface CallNode {
  readonly expr: Expr
  readonly type: CelType
  /** Known or bounded by the schema; undefined where nothing is known. */
  readonly size: Estimate | undefined
  /** The size of a list's elements, by the schema or as large as can be; undefined for what is no list. */
  readonly element: { readonly type: CelType; readonly size: Estimate } | undefined
}

export interface CallEstimate {
  readonly cost: Estimate
  readonly size?: Estimate
}

type Estimator = (
  target: CallNode | undefined,
  args: readonly CallNode[],
  overload: string,
) => CallEstimate | undefined

const stringFactor = 0.1
const regexFactor = 0.25
const sizeOf = (node: CallNode | undefined): Estimate => node?.size ?? unknownSize
const fixed =
  (cost: number): Estimator =>
  () => ({ cost: exactly(cost) })
const traversal = (node: CallNode | undefined, factor = 1): Estimate =>
  scaled(sizeOf(node), factor * stringFactor)

const ofTarget: Estimator = target => target && { cost: traversal(target), size: sizeOf(target) }
const ofFirst: Estimator = (_, [first]) => first && { cost: traversal(first) }
const ofFirstKeepingSize: Estimator = (_, [first]) => first && { cost: traversal(first), size: sizeOf(first) }

const wholeList: Estimator = target => {
  if (target === undefined) return undefined
  const { element } = target
  if (element === undefined) return { cost: traversal(target) }
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes'
  return { cost: times(sizeOf(target), isText ? plus(one, scaled(element.size, stringFactor)) : one) }
}

const replace: Estimator = (target, args) => {
  if (target === undefined || args.length < 2) return undefined
  const size = sizeOf(target)
  const from = sizeOf(args[0])
  const to = sizeOf(args[1])
  const longest =
    from.min === 0
      ? [size.max + 1, size.max]
      : to.max <= from.min
        ? [0, size.max]
        : [Math.ceil(size.max / from.min), 0]
  const shortest =
    from.max === 0
      ? [size.min + 1, size.min]
      : from.max <= to.min
        ? [0, size.min]
        : [Math.ceil(size.min / from.max), 0]
  const count = { min: shortest[0] as number, max: longest[0] as number }
  const kept = { min: shortest[1] as number, max: longest[1] as number }
  return { cost: scaled(size, 2 * stringFactor), size: plus(times(count, to), kept) }
}

const split: Estimator = (target, args) => {
  if (target === undefined) return undefined
  let { max } = sizeOf(target)
  const limit = args[1]?.expr
  if (limit?.kind === 'const' && typeof limit.value === 'number')
    max = limit.value < 0 ? unbounded : limit.value
  return { cost: traversal(target, 2), size: { min: 0, max } }
}

const join: Estimator = (target, args) => {
  if (target === undefined) return undefined
  const list = sizeOf(target)
  const element = target.element?.size ?? unknownSize
  const separator = args.length > 0 ? sizeOf(args[0]) : exactly(0)
  const gaps = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) }
  const size = plus(times(element, list), times(separator, gaps))
  return { cost: scaled(size, stringFactor), size }
}

const find: Estimator = (target, args) => {
  if (target === undefined || args.length < 1) return undefined
  const text = scaled(plus(sizeOf(target), one), stringFactor)
  return {
    cost: times(text, scaled(sizeOf(args[0]), regexFactor)),
    size: { min: 0, max: sizeOf(target).max },
  }
}

const network =
  (isCidr: boolean): Estimator =>
  (_, args, overload) => {
    const bytes = { min: 4, max: 16 }
    const parts = [scaled(plus(bytes, bytes), stringFactor)]
    if (isCidr) parts.push(scaled(bytes, stringFactor), one)
    if (overload.endsWith('_string')) parts.push(traversal(args[0]))
    return { cost: plus(...parts) }
  }

const selector: Estimator = (_, [text]) => {
  const size = sizeOf(text)
  return { cost: plus(exactly(10), scaled(size, stringFactor), scaled(scaled(size, 0.5), 50)) }
}

const sets =
  (factor: number): Estimator =>
  (_, [a, b]) => ({ cost: plus(scaled(times(sizeOf(a), sizeOf(b)), factor), one) })

const literal = (node: CallNode | undefined, otherwise: number): number => {
  if (node?.expr.kind !== 'const' || typeof node.expr.value !== 'number') return otherwise
  return Math.max(0, node.expr.value)
}

/** Unsigned upstream: what is below zero is huge. */
const difference = (a: number, b: number): number => (a < b ? unbounded : a - b)

function listCall(factor: number, size: Estimate): CallEstimate {
  return { cost: plus(scaled(size, factor), exactly(11)), size }
}

const sortOf = (node: CallNode | undefined): CallEstimate => {
  const kind = node?.type.params[0]?.kind
  const size = sizeOf(node)
  return listCall(kind === 'string' || kind === 'bytes' ? 2.1 : 2, times(size, size))
}

const byFunction: ReadonlyMap<string, Estimator> = new Map<string, Estimator>([
  ['check', fixed(350_000)],
  ...'serviceAccount path group resource subresource namespace name allowed reason error errored'
    .split(' ')
    .map(fn => [fn, fixed(1)] as const),
  ...'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast'
    .split(' ')
    .map(fn => [fn, fixed(1)] as const),
  ...'format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch'
    .split(' ')
    .map(fn => [fn, fixed(1)] as const),
  ...'getScheme getHostname getHost getPort getEscapedPath getQuery'
    .split(' ')
    .map(fn => [fn, fixed(1)] as const),
  ['fieldSelector', selector],
  ['labelSelector', selector],
  ...'isSorted sum max min indexOf lastIndexOf'.split(' ').map(fn => [fn, wholeList] as const),
  ['url', ofFirstKeepingSize],
  ['jsonpatch.escapeKey', ofFirstKeepingSize],
  ...'lowerAscii upperAscii substring trim'.split(' ').map(fn => [fn, ofTarget] as const),
  ...'cidr isIP isCIDR quantity isQuantity semver isSemver'.split(' ').map(fn => [fn, ofFirst] as const),
  [
    'ip',
    (target, args, overload) => (overload === 'cidr_ip' ? { cost: one } : ofFirst(target, args, overload)),
  ],
  ['ip.isCanonical', (_, [first]) => ({ cost: traversal(first, 2) })],
  ['replace', replace],
  ['split', split],
  ['join', join],
  ['find', find],
  ['findAll', find],
  ['containsIP', network(false)],
  ['containsCIDR', network(true)],
  ['validate', (_, [text]) => ({ cost: scaled(traversal(text), 128 * regexFactor) })],
  ['sets.contains', sets(1)],
  ['sets.intersects', sets(1)],
  ['sets.equivalent', sets(2)],
  [
    'slice',
    (target, [start, end]) =>
      listCall(1, exactly(difference(literal(end, sizeOf(target).max), literal(start, 0)))),
  ],
  [
    'flatten',
    (target, [depth]) => listCall(depth === undefined ? 1 : literal(depth, unbounded), sizeOf(target)),
  ],
  ['lists.range', (_, [count]) => listCall(1, exactly(literal(count, unbounded)))],
  ['reverse', target => listCall(1, sizeOf(target))],
  ['distinct', target => listCall(2, times(sizeOf(target), sizeOf(target)))],
  ['sort', target => sortOf(target)],
  ['@sortByAssociatedKeys', (_, [keys]) => sortOf(keys)],
])

const unitTypes: ReadonlySet<string> = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.Semver',
])

const kubernetesEquality: Estimator = (_, [a, b]) => {
  if (a?.type.kind !== 'opaque' || a.type.name !== b?.type.name) return undefined
  if (unitTypes.has(a.type.name) || a.type.name.startsWith('kubernetes.authorization.')) return { cost: one }
  if (a.type.name === 'kubernetes.NamedFormat') return { cost: scaled({ min: 1, max: 64 }, stringFactor) }
  if (a.type.name !== 'kubernetes.URL') return undefined
  const size = b.size ?? one
  return { cost: scaled({ min: 1, max: size.max }, stringFactor) }
}

/** What cel-go and Kubernetes say about a call itself, without its arguments; undefined where that depends on the arguments' costs. */
export function estimateCall(
  fn: string,
  overload: string,
  target: CallNode | undefined,
  args: readonly CallNode[],
): CallEstimate {
  const special = fn === '_==_' ? kubernetesEquality : byFunction.get(fn)
  const own = special?.(target, args, overload)
  if (own !== undefined) return own
  const [first, second] = args
  switch (overload) {
    case 'string_format':
      return { cost: traversal(target) }
    case 'string_to_bytes':
      return { cost: traversal(first), size: { min: sizeOf(first).min, max: sizeOf(first).max * 4 } }
    case 'bytes_to_string':
      return {
        cost: traversal(first),
        size: { min: Math.floor(sizeOf(first).min / 4), max: sizeOf(first).max },
      }
    case 'strings_quote':
      return { cost: traversal(first), size: plus(times(sizeOf(first), { min: 1, max: 2 }), exactly(2)) }
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: traversal(first) }
    case 'in_list':
      return { cost: sizeOf(second) }
    case 'matches_string':
      return {
        cost: times(scaled(plus(sizeOf(target), one), stringFactor), scaled(sizeOf(first), regexFactor)),
      }
    case 'contains_string':
      return { cost: times(traversal(target), traversal(first)) }
    case 'add_string':
    case 'add_bytes':
      return {
        cost: scaled(plus(sizeOf(first), sizeOf(second)), stringFactor),
        size: plus(sizeOf(first), sizeOf(second)),
      }
    case 'add_list':
      return { cost: one, size: plus(sizeOf(first), sizeOf(second)) }
  }
  if (/^(?:less|greater|less_equals|greater_equals)_(?:string|bytes)$|^(?:not_)?equals$/.test(overload)) {
    const max = Math.min(sizeOf(first).max, sizeOf(second).max)
    return { cost: scaled({ min: max > 0 ? 1 : 0, max }, stringFactor) }
  }
  return { cost: one }
}
