import type { CallExpr, ComprehensionExpr, Expr } from './ast.ts'
import { type CallNode, estimateCall } from './call-estimate.ts'
import { type Estimate, exactly, one, plus, times, unbounded, union, unknownSize, zero } from './estimate.ts'
import type { SchemaType } from './schema-type.ts'
import { codePointLength } from './text.ts'
import { type CelType, dynType } from './types.ts'

interface EntrySize {
  readonly isList: boolean
  readonly key: Estimate
  readonly value: Estimate
}

interface LocalSize {
  readonly path: readonly string[]
  readonly size: Estimate | undefined
  readonly entry: EntrySize | undefined
}

const scalars: ReadonlySet<string> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint'])

/**
 * The least and the most a checked expression can cost, given the bounds of the schemas. Follows cel-go's checker/cost.go,
 * peculiarities included: CRDs are accepted or refused by this number.
 */
export function estimateCost(expr: Expr, roots: ReadonlyMap<string, SchemaType>): Estimate {
  return new Estimator(roots).cost(expr)
}

class Estimator {
  readonly #roots: ReadonlyMap<string, SchemaType>
  readonly #paths = new Map<Expr, readonly string[]>()
  readonly #sizes = new Map<Expr, Estimate>()
  readonly #entries = new Map<Expr, EntrySize>()
  readonly #locals = new Map<string, LocalSize[]>()

  constructor(roots: ReadonlyMap<string, SchemaType>) {
    this.#roots = roots
  }

  cost(expr: Expr): Estimate {
    switch (expr.kind) {
      case 'const':
        return zero
      case 'ident':
        this.#paths.set(expr, this.#local(expr.name)?.path ?? [expr.name])
        return one
      case 'select':
        return this.#select(expr)
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'struct':
        return plus(...expr.fields.map(f => this.cost(f.value)), exactly(40))
      case 'comprehension':
        return expr.bind ? this.#bind(expr) : this.#comprehension(expr)
    }
  }

  #local(name: string): LocalSize | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #push(name: string, local: LocalSize): void {
    const stack = this.#locals.get(name)
    if (stack === undefined) this.#locals.set(name, [local])
    else stack.push(local)
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop()
  }

  #pathOf(expr: Expr): readonly string[] {
    if (expr.kind === 'ident') {
      const local = this.#local(expr.name)
      if (local !== undefined) return local.path
    }
    return this.#paths.get(expr) ?? []
  }

  #select(expr: Extract<Expr, { kind: 'select' }>): Estimate {
    if (expr.resolvedName !== undefined) {
      this.#paths.set(expr, [expr.resolvedName])
      return one
    }
    const operand = this.cost(expr.operand)
    if (expr.testOnly) return operand
    const kind = expr.operand.type?.kind
    this.#paths.set(expr, [...this.#pathOf(expr.operand), expr.field])
    return kind === 'map' || kind === 'object' || kind === 'param' ? plus(operand, one) : operand
  }

  #list(expr: Extract<Expr, { kind: 'list' }>): Estimate {
    let value: Estimate = { min: expr.elements.length === 0 ? 0 : unbounded, max: 0 }
    let sum: Estimate = zero
    for (const element of expr.elements) {
      sum = plus(sum, this.cost(element))
      value = union(value, this.#sizeOrUnknown(element))
    }
    this.#entries.set(expr, { isList: true, key: one, value })
    return plus(sum, exactly(10))
  }

  #map(expr: Extract<Expr, { kind: 'map' }>): Estimate {
    const start: Estimate = { min: expr.entries.length === 0 ? 0 : unbounded, max: 0 }
    let [key, value, sum]: [Estimate, Estimate, Estimate] = [start, start, zero]
    for (const entry of expr.entries) {
      sum = plus(sum, this.cost(entry.key), this.cost(entry.value))
      key = union(key, this.#sizeOrUnknown(entry.key))
      value = union(value, this.#sizeOrUnknown(entry.value))
    }
    this.#entries.set(expr, { isList: false, key, value })
    return plus(sum, exactly(30))
  }

  #call(expr: CallExpr): Estimate {
    if (expr.fn === 'dyn' && expr.target === undefined) return this.#dyn(expr)
    const costs = expr.args.map(a => this.cost(a))
    const overloads = expr.overloads ?? []
    if (overloads.length === 0) return zero
    const isMember = expr.target !== undefined && expr.resolvedFn === undefined
    const targetCost = isMember ? this.cost(expr.target as Expr) : zero
    const target = isMember ? this.#node(expr.target as Expr) : undefined
    const args = expr.args.map(a => this.#node(a))
    let cost: Estimate = { min: unbounded, max: 0 }
    let size: Estimate | undefined
    for (const overload of overloads) {
      const found = this.#overload(expr, overload, target, args, costs)
      cost = union(cost, found.cost)
      if (found.size !== undefined) size = size === undefined ? found.size : union(size, found.size)
      if (overload === 'index_list' || overload === 'index_map') {
        const container = expr.args[0] as Expr
        size = this.#entryOf(container)?.value
        this.#paths.set(expr, [...this.#pathOf(container), overload === 'index_list' ? '@items' : '@values'])
      }
      size ??= this.#sizeOf(expr)
    }
    if (size !== undefined) this.#sizes.set(expr, size)
    return plus(targetCost, cost)
  }

  #dyn(expr: CallExpr): Estimate {
    const arg = expr.args[0] as Expr
    const cost = this.cost(arg)
    this.#copy(expr, arg)
    return plus(one, cost)
  }

  #copy(to: Expr, from: Expr): void {
    const size = this.#sizeOf(from)
    const entry = this.#entryOf(from)
    if (size !== undefined) this.#sizes.set(to, size)
    if (entry !== undefined) this.#entries.set(to, entry)
  }

  #overload(
    expr: CallExpr,
    overload: string,
    target: CallNode | undefined,
    args: readonly CallNode[],
    costs: readonly Estimate[],
  ): { readonly cost: Estimate; readonly size?: Estimate } {
    const [first = zero, second = zero, third = zero] = costs
    const [a, b, c] = expr.args as [Expr, Expr, Expr]
    if (overload === 'logical_and' || overload === 'logical_or') {
      return { cost: { min: first.min, max: plus(first, second).max } }
    }
    if (overload === 'conditional') {
      this.#joinEntries(expr, b, c)
      return {
        cost: plus(first, union(second, third)),
        size: union(this.#sizeOrUnknown(b), this.#sizeOrUnknown(c)),
      }
    }
    if (/^add_(?:string|bytes|list)$/.test(overload)) this.#joinEntries(expr, a, b)
    const found = estimateCall(expr.resolvedFn ?? expr.fn, overload, target, args)
    return { ...found, cost: plus(found.cost, ...costs) }
  }

  #joinEntries(expr: Expr, a: Expr, b: Expr): void {
    const [left, right] = [this.#entryOf(a), this.#entryOf(b)]
    if (left === undefined || right === undefined) return
    this.#entries.set(expr, {
      isList: left.isList,
      key: union(left.key, right.key),
      value: union(left.value, right.value),
    })
  }

  #bind(expr: ComprehensionExpr): Estimate {
    const sum = plus(this.cost(expr.range), this.cost(expr.init))
    this.#pushValue(expr.accuVar, expr.init)
    const result = this.cost(expr.result)
    this.#copy(expr, expr.result)
    this.#pop(expr.accuVar)
    return plus(sum, result)
  }

  #pushValue(name: string, expr: Expr): void {
    this.#push(name, { path: this.#pathOf(expr), size: this.#sizeOf(expr), entry: this.#entryOf(expr) })
  }

  #comprehension(expr: ComprehensionExpr): Estimate {
    const before = plus(this.cost(expr.range), this.cost(expr.init))
    this.#pushValue(expr.accuVar, expr.init)
    const path = this.#pathOf(expr.range)
    const entry = this.#entryOf(expr.range)
    const isList = entry?.isList ?? expr.range.type?.kind === 'list'
    const key: LocalSize = {
      path: [...path, isList ? '@indices' : '@keys'],
      size: entry?.key,
      entry: undefined,
    }
    const value: LocalSize = {
      path: [...path, isList ? '@items' : '@values'],
      size: entry?.value,
      entry: undefined,
    }
    this.#push(expr.iterVar, expr.iterVar2 === undefined && isList ? value : key)
    if (expr.iterVar2 !== undefined) this.#push(expr.iterVar2, value)
    const loop = plus(this.cost(expr.condition), this.cost(expr.step))
    this.#pop(expr.iterVar)
    if (expr.iterVar2 !== undefined) this.#pop(expr.iterVar2)
    const result = this.cost(expr.result)
    this.#pop(expr.accuVar)
    const count = this.#sizeOrUnknown(expr.range)
    this.#sizeOfLoop(expr, count)
    return plus(before, result, times(count, loop))
  }

  #sizeOfLoop(expr: ComprehensionExpr, count: Estimate): void {
    if (expr.init.kind === 'const') {
      const size = this.#sizeOf(expr.init)
      if (size !== undefined) this.#sizes.set(expr, size)
    } else if (expr.init.kind === 'list' || expr.init.kind === 'map') {
      this.#sizes.set(expr, count)
      const entry = this.#entryOf(expr.step)
      if (entry !== undefined) this.#entries.set(expr, entry)
    }
  }

  #node(expr: Expr): CallNode {
    const type = expr.type ?? dynType
    const path = this.#pathOf(expr)
    return {
      expr,
      type,
      size: this.#sizeOf(expr),
      element: this.#element(type, path[0] === '@result' ? [] : path),
    }
  }

  #element(type: CelType, path: readonly string[]): CallNode['element'] {
    const [element] = type.params
    if (element === undefined) return undefined
    const size = path.length === 0 ? undefined : this.#schemaSize([...path, '@items'])
    return { type: element, size: size ?? unknownSize }
  }

  #sizeOrUnknown(expr: Expr): Estimate {
    return this.#sizeOf(expr) ?? unknownSize
  }

  #sizeOf(expr: Expr): Estimate | undefined {
    const known = this.#sizes.get(expr) ?? literalSize(expr)
    if (known !== undefined) return known
    const bySchema = this.#schemaSize(this.#pathOf(expr))
    if (bySchema !== undefined) {
      this.#sizes.set(expr, bySchema)
      return bySchema
    }
    if (expr.type !== undefined && isScalar(expr.type)) return one
    return expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined
  }

  #entryOf(expr: Expr): EntrySize | undefined {
    return this.#entries.get(expr) ?? (expr.kind === 'ident' ? this.#local(expr.name)?.entry : undefined)
  }

  /** The first name of a path is taken for `self` where it is no variable, as upstream does. */
  #schemaSize(path: readonly string[]): Estimate | undefined {
    const [root = '', ...rest] = path
    let at = this.#roots.get(root) ?? (path.length === 0 ? undefined : this.#roots.get('self'))
    for (const name of rest) {
      if (name === '@items' || name === '@values') at = at?.element
      else if (name === '@keys') at = at?.key
      else at = at?.fields?.get(name) ?? at?.fields?.get(`__${name}__`) ?? at?.member
    }
    return at && { min: 0, max: at.maxElements }
  }
}

function isScalar(type: CelType): boolean {
  return scalars.has(type.kind) || (type.name === 'optional_type' && isScalar(type.params[0] as CelType))
}

function literalSize(expr: Expr): Estimate | undefined {
  if (expr.kind === 'list') return exactly(expr.elements.length)
  if (expr.kind === 'map') return exactly(expr.entries.length)
  if (expr.kind !== 'const') return undefined
  if (typeof expr.value === 'string') return exactly(codePointLength(expr.value))
  return exactly(expr.value instanceof Uint8Array ? expr.value.length : 1)
}
