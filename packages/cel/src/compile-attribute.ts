import type { Expr } from './ast.ts'
import type { Compiled, Compiler, Local } from './compiled.ts'
import { absorbable, type Frame, type Step } from './frame.ts'
import { index, lookUp, noSuchKey, optionalIndex } from './operators.ts'
import { fault, isMapValue, noneValue, ObjectValue, OptionalValue, type Value } from './values.ts'

/**
 * Attributes: a variable, literal or call followed by selections and indexes. Their cost follows cel-go's, where
 * evaluating an attribute costs one more than resolving it, and where a key that is itself an attribute is only resolved.
 */
export function isAttribute(expr: Expr, compiler: Compiler): boolean {
  switch (expr.kind) {
    case 'ident': {
      if (compiler.local(expr.name) !== undefined) return true
      const found = compiler.resolve(expr)
      return found !== undefined && 'slot' in found
    }
    case 'select': {
      const found = compiler.resolve(expr)
      if (found !== undefined) return 'slot' in found && !expr.testOnly
      return expr.operand.kind !== 'ident' || isAttribute(expr.operand, compiler)
    }
    case 'call':
      return expr.fn === '_[_]' || expr.fn === '_?._' || expr.fn === '_[?_]' || expr.fn === '_?_:_'
    default:
      return false
  }
}

/** Evaluation of an attribute. */
export function compileAttribute(expr: Expr, compiler: Compiler): Compiled {
  const step = resolveStep(expr, compiler)
  if (isConditionalAttribute(expr) || (expr.kind === 'select' && expr.testOnly)) return { step }
  return {
    step: f => {
      f.cost++
      return step(f)
    },
  }
}

function isConditionalAttribute(expr: Expr): boolean {
  if (expr.kind === 'call' && expr.fn === '_?_:_') return true
  if (expr.kind === 'select') return isConditionalAttribute(expr.operand)
  if (expr.kind === 'call' && (expr.fn === '_[_]' || expr.fn === '_?._' || expr.fn === '_[?_]')) {
    return isConditionalAttribute(expr.args[0] as Expr)
  }
  return false
}

function resolveStep(expr: Expr, compiler: Compiler): Step {
  if (!isAttribute(expr, compiler)) return compiler.step(expr)
  if (expr.kind === 'ident') return identStep(expr.name, compiler)
  if (expr.kind === 'select') {
    const found = compiler.resolve(expr)
    if (found !== undefined && 'slot' in found && !expr.testOnly) return slotStep(found.slot, found.name)
    const slot = expr.testOnly ? undefined : plainSlot(expr.operand, compiler)
    if (slot !== undefined) return slotFieldStep(slot.slot, slot.name, expr.field)
    const operand = resolveStep(expr.operand, compiler)
    return expr.testOnly ? testStep(operand, expr.field) : selectStep(operand, expr.field)
  }
  const args = (expr as { args: readonly Expr[] }).args
  const fn = (expr as { fn: string }).fn
  if (fn === '_?_:_') return conditionalStep(args as [Expr, Expr, Expr], compiler)
  const [container, key] = args as [Expr, Expr]
  const operand = resolveStep(container, compiler)
  if (fn === '_?._' || fn === '_[?_]') return optionalStep(operand, keyStep(key, compiler))
  return indexStep(operand, keyStep(key, compiler))
}

/** A key that is an attribute is resolved; the other keys are evaluated, and those not constant count as an attribute. */
function keyStep(key: Expr, compiler: Compiler): Step {
  return resolveStep(key, compiler)
}

function identStep(name: string, compiler: Compiler): Step {
  const local = compiler.local(name)
  if (local !== undefined) return localStep(local)
  const found = compiler.resolve({ kind: 'ident', name, offset: 0 }) as { slot: number; name: string }
  return slotStep(found.slot, found.name)
}

function slotStep(slot: number, name: string): Step {
  return f => {
    const value = f.slots[slot]
    return value === undefined ? fault(`no such attribute(s): ${name}`) : value
  }
}

/** The slot of a variable that is there without computing. */
function plainSlot(expr: Expr, compiler: Compiler): { slot: number; name: string } | undefined {
  if (expr.kind !== 'ident') return undefined
  const local = compiler.local(expr.name)
  if (local !== undefined) return local.lazy === undefined ? { slot: local.slot, name: expr.name } : undefined
  const found = compiler.resolve(expr)
  return found !== undefined && 'slot' in found ? found : undefined
}

/** `self.field` in one step: by far the most frequent attribute. */
function slotFieldStep(slot: number, name: string, field: string): Step {
  const general = selectStep(slotStep(slot, name), field)
  return f => {
    const value = f.slots[slot]
    if (value instanceof ObjectValue) {
      const found = value.get(field)
      if (found !== undefined) {
        f.cost++
        return found
      }
    }
    return general(f)
  }
}

function localStep({ slot, lazy }: Local): Step {
  if (lazy === undefined) return f => f.slots[slot] as Value
  return f => {
    let value = f.slots[slot]
    if (value === undefined) {
      value = lazy(f)
      f.slots[slot] = value
    }
    return value
  }
}

export function selectField(value: Value, field: string): Value {
  if (value instanceof ObjectValue) return value.get(field) ?? missing(value, field)
  if (isMapValue(value)) return value.get(field) ?? missing(value, field)
  if (value instanceof OptionalValue)
    return value.value === undefined ? noneValue : optionalIndex(value.value, field)
  return index(value, field)
}

/** `??` also passes over null, which is a value. */
function missing(value: { get(key: Value): Value | undefined }, field: string): Value {
  return value.get(field) === null ? null : noSuchKey(field)
}

function selectStep(operand: Step, field: string): Step {
  return f => {
    const value = operand(f)
    if (value instanceof OptionalValue) {
      const found = selectField(value, field)
      if ((found as OptionalValue).value !== undefined) f.cost++
      return found
    }
    f.cost++
    return selectField(value, field)
  }
}

function testStep(operand: Step, field: string): Step {
  return f => {
    const value = operand(f)
    f.cost++
    return hasField(value, field)
  }
}

function hasField(value: Value, field: string): boolean {
  if (isMapValue(value)) return value.get(field) !== undefined
  if (value instanceof OptionalValue) return value.value !== undefined && hasField(value.value, field)
  return lookUp(value, field) !== undefined
}

function indexStep(operand: Step, key: Step): Step {
  return f => {
    const container = operand(f)
    const at = key(f)
    f.cost++
    return container instanceof OptionalValue ? optionalIndex(container, at) : index(container, at)
  }
}

function optionalStep(operand: Step, key: Step): Step {
  return f => {
    const container = operand(f)
    const at = key(f)
    const found = optionalIndex(container, at)
    if ((found as OptionalValue).value !== undefined) f.cost++
    return found
  }
}

function conditionalStep([condition, truthy, falsy]: [Expr, Expr, Expr], compiler: Compiler): Step {
  const test = compiler.step(condition)
  const yes = resolveStep(truthy, compiler)
  const no = resolveStep(falsy, compiler)
  return f => {
    const chosen = test(f)
    if (chosen === true) return yes(f)
    return chosen === false ? no(f) : fault('no such overload')
  }
}

/** Evaluates a step whose fault is to be remembered rather than thrown. */
export function tryStep(
  step: Step,
  f: Frame,
): { readonly value: Value } | { readonly fault: ReturnType<typeof absorbable> } {
  try {
    return { value: step(f) }
  } catch (error) {
    return { fault: absorbable(error) }
  }
}
