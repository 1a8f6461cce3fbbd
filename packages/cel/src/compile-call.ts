import type { CallExpr, Expr } from './ast.ts'
import { type Compiled, type Compiler, constant, ProgramFault } from './compiled.ts'
import { findFunction } from './environment.ts'
import { equals } from './equality.ts'
import { absorbable, checkCost, Frame, type Step } from './frame.ts'
import { dispatch, type Overload } from './functions.ts'
import { greater, greaterEquals, less, lessEquals } from './operators.ts'
import { dottedName } from './parser.ts'
import { compileRegex } from './regex.ts'
import { type CallCost, callCost, equalityCost } from './runtime-cost.ts'
import { EvalFault, fault, ListValue, normalizeKey, OptionalValue, type Value } from './values.ts'

const conversions: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
)

export function compileCall(expr: CallExpr, compiler: Compiler): Compiled {
  switch (expr.fn) {
    case '_&&_':
      return {
        step: logic(
          flatten(expr, '_&&_').map(e => compiler.step(e)),
          false,
        ),
      }
    case '_||_':
      return {
        step: logic(
          flatten(expr, '_||_').map(e => compiler.step(e)),
          true,
        ),
      }
    case '@not_strictly_false':
      return { step: notStrictlyFalse(compiler.step(expr.args[0] as Expr)) }
    case '_==_':
      return { step: equality(compiler, expr, true) }
    case '_!=_':
      return { step: equality(compiler, expr, false) }
    case 'or':
    case 'orValue':
      if (expr.target !== undefined && expr.args.length === 1 && compiler.environment.macros.optionals) {
        return {
          step: otherwise(compiler.step(expr.target), compiler.step(expr.args[0] as Expr), expr.fn === 'or'),
        }
      }
      break
    case '@in': {
      const member = constantMembership(expr, compiler)
      if (member !== undefined) return { step: member }
    }
  }
  return functionCall(expr, compiler)
}

function flatten(expr: Expr, fn: string): Expr[] {
  if (expr.kind !== 'call' || expr.fn !== fn) return [expr]
  return expr.args.flatMap(arg => flatten(arg, fn))
}

/** `&&` (decisive false) and `||` (decisive true): a decisive operand wins over faults on either side. */
function logic(terms: readonly Step[], decisive: boolean): Step {
  return f => {
    let first: EvalFault | undefined
    for (let i = 0; i < terms.length; i++) {
      try {
        const value = (terms[i] as Step)(f)
        if (value === decisive) return decisive
        if (typeof value !== 'boolean') fault('no such overload')
      } catch (error) {
        const caught = absorbable(error)
        first ??= caught
      }
    }
    if (first !== undefined) throw first
    return !decisive
  }
}

/** `or` and `orValue` look at their argument only where there is need, and cost nothing. */
function otherwise(optional: Step, alternative: Step, keepsOptional: boolean): Step {
  return f => {
    const value = optional(f)
    if (!(value instanceof OptionalValue)) return value
    if (value.value === undefined) return alternative(f)
    return keepsOptional ? value : value.value
  }
}

function notStrictlyFalse(operand: Step): Step {
  return f => {
    f.cost++
    try {
      return operand(f) !== false
    } catch (error) {
      absorbable(error)
      return true
    }
  }
}

function equality(compiler: Compiler, expr: CallExpr, positive: boolean): Step {
  const [left, right] = expr.args.map(a => compiler.step(a)) as [Step, Step]
  const isEquals = positive
  return f => {
    let a: Value
    let b: Value
    try {
      a = left(f)
    } catch (error) {
      return failed(error, f, right, 1)
    }
    try {
      b = right(f)
    } catch (error) {
      return failed(error, f, undefined, 1)
    }
    f.cost += typeof a === 'number' || typeof a === 'boolean' ? 1 : equalityCost(a, b, isEquals)
    return (a === b || equals(a, b)) === positive
  }
}

/**
 * A call whose first operand failed still evaluates the other and costs what it would have, as in cel-go. Operands that
 * failed count as of size one.
 */
function failed(error: unknown, f: Frame, rest: Step | undefined, cost: CallCost): never {
  const caught = absorbable(error)
  if (rest !== undefined) {
    try {
      rest(f)
    } catch (other) {
      absorbable(other)
    }
  }
  f.cost += typeof cost === 'number' ? cost : cost([null, null], null)
  throw caught
}

/** `x in ['a', 'b']` with nothing but constants is a set look-up, and costs nothing, as in cel-go. */
function constantMembership(expr: CallExpr, compiler: Compiler): Step | undefined {
  if (expr.overloads !== undefined && !(expr.overloads.length === 1 && expr.overloads[0] === 'in_list'))
    return undefined
  const [element, container] = expr.args as [Expr, Expr]
  if (container.kind !== 'list') return undefined
  const list = compiler.compile(container).constant?.value
  if (!(list instanceof ListValue)) return undefined
  const keys = list.toArray().map(normalizeKey)
  if (keys.some(k => k === undefined)) return undefined
  const set = new Set(keys)
  const step = compiler.step(element)
  return f => {
    const key = normalizeKey(step(f))
    return key !== undefined && set.has(key)
  }
}

interface Target {
  readonly name: string
  readonly args: readonly Expr[]
  readonly candidates: readonly Overload[]
}

function findTarget(expr: CallExpr, compiler: Compiler): Target | undefined {
  const { environment } = compiler
  if (expr.target === undefined) {
    const found = findFunction(environment, expr.resolvedFn ?? expr.fn)
    return found && { name: found.name, args: expr.args, candidates: found.set.global }
  }
  const prefix = dottedName(expr.target)
  const isLocal = prefix !== undefined && compiler.local(prefix.split('.')[0] ?? '') !== undefined
  if (prefix !== undefined && !isLocal) {
    const found = findFunction(environment, `${prefix}.${expr.fn}`)
    if (found !== undefined) return { name: found.name, args: expr.args, candidates: found.set.global }
  }
  const set = environment.functions.get(expr.fn)
  return set && { name: expr.fn, args: [expr.target, ...expr.args], candidates: set.member }
}

function functionCall(expr: CallExpr, compiler: Compiler): Compiled {
  const target = findTarget(expr, compiler)
  if (target === undefined) return { step: () => fault(`unbound function: ${expr.fn}`) }
  const args = target.args.map(a => compiler.compile(a))
  const only = expr.overloads?.length === 1 ? expr.overloads[0] : undefined
  const known = target.candidates.find(o => o.id === only)
  const isExact = known !== undefined && target.args.every(a => isStatic(a))
  const implementation = isExact
    ? known.implementation
    : dynamicCall(
        target.name,
        target.candidates.filter(o => o.args.length === args.length),
      )
  const cost = callCost(target.name, only ?? '')
  const step = callStep(
    target.name,
    args.map(a => a.step),
    implementation,
    cost,
  )
  const isFoldable = conversions.has(expr.fn) && args.length === 1 && args[0]?.constant !== undefined
  if (compiler.environment.strictLiterals) checkPattern(target.name, args[1])
  return isFoldable ? fold(step, compiler.environment.strictLiterals) : { step }
}

/** The checker saw a type through and through, so that the overload's argument needs no check. */
function isStatic(expr: Expr): boolean {
  const kind = expr.type?.kind
  return kind !== undefined && kind !== 'dyn' && kind !== 'error' && kind !== 'param'
}

function dynamicCall(name: string, candidates: readonly Overload[]): (...args: Value[]) => Value {
  const shared = candidates[0]?.implementation
  // Operators check their operands themselves, with cel-go's short message.
  if (shared !== undefined && name.startsWith('_') && candidates.every(c => c.implementation === shared))
    return shared
  return (...args) => dispatch(name, candidates, args)
}

function fold(step: Step, strict: boolean): Compiled {
  try {
    return constant(step(new Frame([], Number.POSITIVE_INFINITY)))
  } catch (error) {
    if (strict && error instanceof EvalFault) throw new ProgramFault(error.message)
    return { step }
  }
}

/** Constant patterns are compiled beforehand. */
function checkPattern(fn: string, pattern: Compiled | undefined): void {
  const text = pattern?.constant?.value
  if ((fn !== 'find' && fn !== 'findAll') || typeof text !== 'string') return
  try {
    compileRegex(text)
  } catch (error) {
    if (error instanceof EvalFault) throw new ProgramFault(error.message)
    throw error
  }
}

const fastBinary: ReadonlyMap<string, (left: Step, right: Step) => Step> = new Map([
  ['_<_', numberFirst((a, b) => a < b, less)],
  ['_<=_', numberFirst((a, b) => a <= b, lessEquals)],
  ['_>_', numberFirst((a, b) => a > b, greater)],
  ['_>=_', numberFirst((a, b) => a >= b, greaterEquals)],
])

function numberFirst(
  fast: (a: number, b: number) => boolean,
  slow: (a: Value, b: Value) => boolean,
): (l: Step, r: Step) => Step {
  const name =
    slow === less
      ? 'less'
      : slow === lessEquals
        ? 'less_equals'
        : slow === greater
          ? 'greater'
          : 'greater_equals'
  const textCost = callCost('', `${name}_string`) as (args: readonly Value[], result: Value) => number
  return (left, right) => f => {
    let a: Value
    let b: Value
    try {
      a = left(f)
    } catch (error) {
      return failed(error, f, right, 1)
    }
    try {
      b = right(f)
    } catch (error) {
      return failed(error, f, undefined, 1)
    }
    if (typeof a === 'number' && typeof b === 'number') {
      f.cost++
      return fast(a, b)
    }
    f.cost += typeof a === 'string' || a instanceof Uint8Array ? textCost([a, b], true) : 1
    return slow(a, b)
  }
}

function callStep(
  name: string,
  steps: readonly Step[],
  run: (...args: Value[]) => Value,
  cost: CallCost,
): Step {
  const [first, second] = steps as [Step, Step]
  if (steps.length === 2) return fastBinary.get(name)?.(first, second) ?? binaryStep(first, second, run, cost)
  if (steps.length === 1) return unaryStep(first, run, cost)
  return f => {
    const args = steps.map(s => s(f))
    return charged(f, args, run, cost)
  }
}

/** Runs the function and adds its cost, also where it fails. */
function charged(f: Frame, args: readonly Value[], run: (...args: Value[]) => Value, cost: CallCost): Value {
  if (typeof cost === 'number') {
    f.cost += cost
    return run(...args)
  }
  let result: Value = null
  try {
    result = run(...args)
  } finally {
    f.cost += cost(args, result)
  }
  checkCost(f)
  return result
}

function unaryStep(operand: Step, run: (...args: Value[]) => Value, cost: CallCost): Step {
  return f => {
    let a: Value
    try {
      a = operand(f)
    } catch (error) {
      return failed(error, f, undefined, cost)
    }
    if (typeof cost !== 'number') return charged(f, [a], run, cost)
    f.cost += cost
    return run(a)
  }
}

function binaryStep(left: Step, right: Step, run: (...args: Value[]) => Value, cost: CallCost): Step {
  return f => {
    let a: Value
    let b: Value
    try {
      a = left(f)
    } catch (error) {
      return failed(error, f, right, cost)
    }
    try {
      b = right(f)
    } catch (error) {
      return failed(error, f, undefined, cost)
    }
    if (typeof cost !== 'number') return charged(f, [a, b], run, cost)
    f.cost += cost
    return run(a, b)
  }
}
