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
import { compileAttribute, isAttribute } from './compile-attribute.ts'
import { compileCall } from './compile-call.ts'
import { compileComprehension } from './compile-comprehension.ts'
import { type Compiled, type Compiler, constant, type Local, mapKey } from './compiled.ts'
import { candidateNames, type Environment } from './environment.ts'
import type { Frame, Step } from './frame.ts'
import { describeKey } from './operators.ts'
import { dottedName } from './parser.ts'
import type { StructType } from './struct-types.ts'
import { EntryMap, fault, ListValue, type MapKey, OptionalValue, TypeValue, type Value } from './values.ts'

interface StructField {
  readonly name: string
  readonly step: Step
  readonly optional: boolean
}

/** Turns a checked (or only parsed) expression into closures. */
export class ExpressionCompiler implements Compiler {
  readonly environment: Environment
  readonly #variables: ReadonlySet<string>
  /** The slot of each variable the expression reads. */
  readonly used: Map<string, number> = new Map()
  #scopes: ReadonlyMap<string, Local> = new Map()
  slots = 0

  constructor(environment: Environment, variables: ReadonlySet<string>) {
    this.environment = environment
    this.#variables = variables
  }

  compile(expr: Expr): Compiled {
    if (isAttribute(expr, this)) return compileAttribute(expr, this)
    switch (expr.kind) {
      case 'const':
        return constant(expr.value)
      case 'ident':
      case 'select':
        return this.#name(expr)
      case 'call':
        return compileCall(expr as CallExpr, this)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'comprehension':
        return compileComprehension(expr as ComprehensionExpr, this)
      case 'struct':
        return this.#struct(expr)
    }
  }

  step(expr: Expr): Step {
    return this.compile(expr).step
  }

  local(name: string): Local | undefined {
    return this.#scopes.get(name)
  }

  /** The variable or type that a dotted name denotes, if any. */
  resolve(expr: IdentExpr | SelectExpr): { slot: number; name: string } | { type: Value } | undefined {
    const name = (expr as SelectExpr).resolvedName ?? dottedName(expr)
    if (name === undefined) return undefined
    if (expr.kind === 'select' && this.#scopes.size > 0 && this.#scopes.has(name.split('.')[0] ?? ''))
      return undefined
    const { container } = this.environment
    if (container === '' && !name.startsWith('.')) return this.#denoted(name)
    for (const candidate of candidateNames(container, name)) {
      const found = this.#denoted(candidate)
      if (found !== undefined) return found
    }
    return undefined
  }

  #denoted(name: string): { slot: number; name: string } | { type: Value } | undefined {
    if (this.#variables.has(name)) return { slot: this.#slotOf(name), name }
    const type = this.environment.types.get(name) ?? this.environment.structs(name)?.type
    return type && { type: new TypeValue(type) }
  }

  #slotOf(name: string): number {
    let slot = this.used.get(name)
    if (slot === undefined) {
      slot = this.slots++
      this.used.set(name, slot)
    }
    return slot
  }

  withLocals<T>(locals: readonly (readonly [string, Local])[], body: () => T): T {
    const outer = this.#scopes
    this.#scopes = new Map([...outer, ...locals])
    try {
      return body()
    } finally {
      this.#scopes = outer
    }
  }

  #name(expr: IdentExpr | SelectExpr): Compiled {
    const found = this.resolve(expr)
    if (found !== undefined && 'type' in found) return constant(found.type)
    const name = dottedName(expr) ?? ''
    return { step: () => fault(`no such attribute(s): ${name.replace(/^\./, '')}`) }
  }

  #list(expr: ListExpr): Compiled {
    const parts = expr.elements.map(e => this.compile(e))
    if (expr.optional.size === 0 && parts.every(p => p.constant !== undefined)) {
      return constant(new ListValue(parts.map(p => p.constant?.value as Value)))
    }
    const steps = parts.map(p => p.step)
    const { optional } = expr
    if (optional.size === 0) {
      return {
        step: f => {
          const items = new Array<Value>(steps.length)
          for (let i = 0; i < steps.length; i++) items[i] = (steps[i] as Step)(f)
          f.cost += 10
          return new ListValue(items)
        },
      }
    }
    return {
      step: f => {
        const items: Value[] = []
        steps.forEach((step, i) => {
          const value = step(f)
          const kept = optional.has(i) ? present(value) : value
          if (kept !== undefined) items.push(kept)
        })
        f.cost += 10
        return new ListValue(items)
      },
    }
  }

  #struct(expr: StructExpr): Compiled {
    const { container, structs } = this.environment
    const names = expr.resolvedName ? [expr.resolvedName] : candidateNames(container, expr.name)
    const made = names.map(structs).find(found => found !== undefined)
    if (made === undefined) return { step: () => fault(`unknown type: ${expr.name}`) }
    const fields = expr.fields.map(({ name, value, optional }) => ({
      name,
      step: this.step(value),
      optional,
    }))
    return { step: f => structValue(made, fields, f) }
  }

  #map(expr: MapExpr): Compiled {
    const entries = expr.entries.map(e => ({
      key: this.compile(e.key),
      value: this.compile(e.value),
      optional: e.optional,
    }))
    const isConstant = entries.every(
      e => !e.optional && e.key.constant !== undefined && e.value.constant !== undefined,
    )
    // cel-go's constant folding, which Kubernetes turns on, does not look for repeated keys.
    const lastWins = isConstant && this.environment.strictLiterals
    const build = (f: Frame): Value => {
      const map = new Map<MapKey, readonly [Value, Value]>()
      for (const { key, value, optional } of entries) {
        const k = key.step(f)
        const normal = mapKey(k)
        if (!lastWins && map.has(normal)) fault(`Failed with repeated key: ${describeKey(k)}`)
        const v = value.step(f)
        const kept = optional ? present(v) : v
        if (kept !== undefined) map.set(normal, [k, kept])
      }
      f.cost += 30
      return new EntryMap(map)
    }
    if (!isConstant) return { step: build }
    try {
      return constant(build({ slots: [], limit: Number.POSITIVE_INFINITY, cost: 0 } as Frame))
    } catch {
      return { step: build }
    }
  }
}

function structValue(made: StructType, fields: readonly StructField[], f: Frame): Value {
  const values = new Map<string, Value>()
  for (const { name, step, optional } of fields) {
    const value = step(f)
    const kept = optional ? present(value) : value
    if (kept !== undefined) values.set(name, kept)
  }
  f.cost += 40
  return made.create(values)
}

function present(value: Value): Value | undefined {
  if (value instanceof OptionalValue) return value.value
  return fault(`cannot initialize optional list element from non-optional value`)
}
