import type {
  CallExpr,
  ComprehensionExpr,
  Expr,
  IdentExpr,
  ListExpr,
  MapExpr,
  SelectExpr,
  StructExpr,
} from './ast.ts'
import { candidateNames, type Environment, findFunction } from './environment.ts'
import { typeOfValue } from './equality.ts'
import type { Overload } from './functions.ts'
import { dottedName } from './parser.ts'
import {
  boolType,
  type CelType,
  dynType,
  errorType,
  formatType,
  intType,
  isDynLike,
  isOptionalType,
  listOf,
  mapOf,
  optionalOf,
  typeOf,
} from './types.ts'
import { instantiate, isExactType, mostGeneral, Substitution } from './unify.ts'

export interface Problem {
  readonly offset: number
  readonly message: string
}

/** Computes the type of every node and the overloads of every call, and collects what is wrong. */
export class Checker {
  readonly problems: Problem[] = []
  readonly #environment: Environment
  readonly #variables: ReadonlyMap<string, CelType>
  readonly #types = new Substitution()
  readonly #seen: Expr[] = []
  #locals: ReadonlyMap<string, CelType> = new Map()

  constructor(environment: Environment, variables: ReadonlyMap<string, CelType>) {
    this.#environment = environment
    this.#variables = variables
  }

  check(expr: Expr): CelType {
    this.#visit(expr)
    for (const node of this.#seen) node.type = this.#types.apply(node.type as CelType, true)
    this.problems.sort((a, b) => a.offset - b.offset)
    return expr.type as CelType
  }

  #visit(expr: Expr): CelType {
    const type = this.#typeOf(expr)
    expr.type = type
    this.#seen.push(expr)
    return type
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case 'const':
        return typeOfValue(expr.value)
      case 'ident':
        return this.#ident(expr)
      case 'select':
        return this.#select(expr)
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'struct':
        return this.#struct(expr)
      case 'comprehension':
        return this.#comprehension(expr)
    }
  }

  #fail(offset: number, message: string): CelType {
    this.problems.push({ offset, message })
    return errorType
  }

  #undeclared(offset: number, name: string): CelType {
    const { container } = this.#environment
    return this.#fail(
      offset,
      `undeclared reference to '${name.replace(/^\./, '')}' (in container '${container}')`,
    )
  }

  #lookUp(name: string): { name: string; type: CelType } | undefined {
    const local = this.#locals.get(name)
    if (local !== undefined) return { name, type: local }
    for (const candidate of candidateNames(this.#environment.container, name)) {
      const variable = this.#variables.get(candidate)
      if (variable !== undefined) return { name: candidate, type: variable }
      const { types, structs } = this.#environment
      const type = types.get(candidate) ?? structs(candidate)?.type
      if (type !== undefined) return { name: candidate, type: typeOf(type) }
    }
    return undefined
  }

  #ident(expr: IdentExpr): CelType {
    return this.#lookUp(expr.name)?.type ?? this.#undeclared(expr.offset, expr.name)
  }

  #select(expr: SelectExpr): CelType {
    const name = dottedName(expr)
    if (name !== undefined && !this.#locals.has(name.split('.')[0] ?? '')) {
      const found = this.#lookUp(name)
      if (found !== undefined) {
        expr.resolvedName = name
        return found.type
      }
    }
    const result = this.#field(expr.offset, expr.operand, expr.field, false)
    return expr.testOnly ? boolType : this.#types.apply(result, false)
  }

  #field(offset: number, operand: Expr, field: string, optional: boolean): CelType {
    const operandType = this.#types.apply(this.#visit(operand), false)
    const wasOptional = isOptionalType(operandType)
    const target = wasOptional ? (operandType.params[0] as CelType) : operandType
    const result = this.#fieldOf(offset, target, field)
    return wasOptional || optional ? optionalOf(result) : result
  }

  #fieldOf(offset: number, target: CelType, field: string): CelType {
    if (target.kind === 'map') return target.params[1] as CelType
    if (target.kind === 'object')
      return target.fields?.(field) ?? this.#fail(offset, `undefined field '${field}'`)
    if (target.kind === 'param') {
      this.#types.isAssignable(dynType, target)
      return dynType
    }
    if (!isDynLike(target))
      this.#fail(offset, `type '${formatType(target)}' does not support field selection`)
    return dynType
  }

  #call(expr: CallExpr): CelType {
    if (expr.fn === '_?._') {
      const [operand, field] = expr.args as [Expr, Expr]
      const name = field.kind === 'const' && typeof field.value === 'string' ? field.value : ''
      this.#visit(field)
      expr.overloads = ['select_optional_field']
      return this.#types.apply(this.#field(expr.offset, operand, name, true), false)
    }
    for (const arg of expr.args) this.#visit(arg)
    if (expr.target === undefined) {
      const found = findFunction(this.#environment, expr.fn)
      if (found === undefined) return this.#undeclared(expr.offset, expr.fn)
      expr.resolvedFn = found.name
      return this.#resolve(expr, found.name, found.set.global, false)
    }
    const prefix = dottedName(expr.target)
    if (prefix !== undefined && !this.#locals.has(prefix.split('.')[0] ?? '')) {
      const found = findFunction(this.#environment, `${prefix}.${expr.fn}`)
      if (found !== undefined) {
        expr.resolvedFn = found.name
        return this.#resolve(expr, found.name, found.set.global, false)
      }
    }
    this.#visit(expr.target)
    const set = this.#environment.functions.get(expr.fn)
    if (set === undefined) return this.#undeclared(expr.offset, expr.fn)
    return this.#resolve(expr, expr.fn, set.member, true)
  }

  #resolve(expr: CallExpr, name: string, candidates: readonly Overload[], member: boolean): CelType {
    const nodes = member ? [expr.target as Expr, ...expr.args] : expr.args
    const args = nodes.map(a => a.type as CelType)
    if (name === '_&&_' || name === '_||_') return this.#logic(expr, nodes, args)
    const ids: string[] = []
    let result: CelType | undefined
    for (const candidate of candidates) {
      if (candidate.args.length !== args.length) continue
      let { result: returns, args: params } = candidate
      if (candidate.generic) {
        ;[returns, ...params] = instantiate([returns, ...params], this.#types) as [CelType, ...CelType[]]
      }
      if (!this.#types.isAssignableList(args, params)) continue
      ids.push(candidate.id)
      const actual = this.#types.apply(returns, false)
      if (result === undefined) result = actual
      else if (result.kind !== 'dyn' && !isExactType(actual, result)) result = dynType
    }
    expr.overloads = ids
    if (result !== undefined) return result
    const shown = args.map(a => formatType(this.#types.apply(a, true)))
    const signature = member ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`
    return this.#fail(expr.offset, `found no matching overload for '${name}' applied to '${signature}'`)
  }

  #logic(expr: CallExpr, nodes: readonly Expr[], args: readonly CelType[]): CelType {
    let failed = false
    args.forEach((type, i) => {
      if (this.#types.isAssignable(type, boolType)) return
      failed = true
      this.#mismatch(nodes[i] as Expr, boolType, type)
    })
    expr.overloads = [expr.fn === '_&&_' ? 'logical_and' : 'logical_or']
    return failed ? errorType : boolType
  }

  #mismatch(expr: Expr, expected: CelType, found: CelType): CelType {
    const show = (t: CelType): string => formatType(this.#types.apply(t, false))
    return this.#fail(expr.offset, `expected type '${show(expected)}' but found '${show(found)}'`)
  }

  #optionalElement(expr: Expr, type: CelType): CelType {
    if (isOptionalType(type)) return type.params[0] as CelType
    if (!isDynLike(type)) this.#mismatch(expr, optionalOf(type), type)
    return type
  }

  #list(expr: ListExpr): CelType {
    let joined: CelType | undefined
    expr.elements.forEach((element, i) => {
      const type = this.#visit(element)
      joined = this.#join(joined, expr.optional.has(i) ? this.#optionalElement(element, type) : type)
    })
    return listOf(joined ?? this.#types.fresh())
  }

  #map(expr: MapExpr): CelType {
    let keys: CelType | undefined
    let values: CelType | undefined
    for (const { key, value, optional } of expr.entries) {
      keys = this.#join(keys, this.#visit(key))
      const type = this.#visit(value)
      values = this.#join(values, optional ? this.#optionalElement(value, type) : type)
    }
    return mapOf(keys ?? this.#types.fresh(), values ?? this.#types.fresh())
  }

  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current
    if (this.#types.isAssignable(previous, current)) return mostGeneral(previous, current)
    return dynType
  }

  #struct(expr: StructExpr): CelType {
    const type = this.#structType(expr)
    for (const { name, value, optional, offset } of expr.fields) {
      const given = this.#visit(value)
      const provided = optional ? this.#optionalElement(value, given) : given
      if (type.kind === 'error') continue
      const expected = type.fields?.(name)
      if (expected === undefined) this.#fail(offset, `undefined field '${name}'`)
      else if (!this.#types.isAssignable(expected, provided)) {
        const shown = formatType(this.#types.apply(provided, false))
        const message = `expected type of field '${name}' is '${formatType(expected)}' but provided type is '${shown}'`
        this.#fail(offset, message)
      }
    }
    return type
  }

  #structType(expr: StructExpr): CelType {
    const found = this.#lookUp(expr.name)
    if (found === undefined) return this.#undeclared(expr.offset, expr.name)
    expr.resolvedName = found.name
    if (found.type.kind !== 'type')
      return this.#fail(expr.offset, `'${formatType(found.type)}' is not a type`)
    const type = found.type.params[0] as CelType
    return type.kind === 'object'
      ? type
      : this.#fail(expr.offset, `'${formatType(type)}' is not a message type`)
  }

  #comprehension(expr: ComprehensionExpr): CelType {
    const range = this.#types.apply(this.#visit(expr.range), false)
    const accu = this.#visit(expr.init)
    const [first, second] = this.#iterationTypes(expr, range)
    const outer = this.#locals
    const withAccu = new Map([...outer, [expr.accuVar, accu] as const])
    this.#locals = new Map([...withAccu, [expr.iterVar, first]])
    if (expr.iterVar2 !== undefined) this.#locals = new Map([...this.#locals, [expr.iterVar2, second]])
    this.#assert(expr.condition, boolType)
    this.#assert(expr.step, accu)
    this.#locals = withAccu
    const result = this.#visit(expr.result)
    this.#locals = outer
    return this.#types.apply(result, false)
  }

  #iterationTypes(expr: ComprehensionExpr, range: CelType): readonly [CelType, CelType] {
    const [first = dynType, second = dynType] = range.params
    switch (range.kind) {
      case 'list':
        return expr.iterVar2 === undefined ? [first, first] : [intType, first]
      case 'map':
        return [first, second]
      case 'dyn':
      case 'error':
      case 'param':
        this.#types.isAssignable(dynType, range)
        return [dynType, dynType]
      default:
        this.#fail(
          expr.range.offset,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [errorType, errorType]
    }
  }

  #assert(expr: Expr, expected: CelType): void {
    const found = this.#visit(expr)
    if (!this.#types.isAssignable(expected, found)) this.#mismatch(expr, expected, found)
  }
}
