import type { CallExpr, ComprehensionExpr, Expr, ListExpr } from './ast.ts'
import { tryStep } from './compile-attribute.ts'
import { type Compiled, type Compiler, type Local, mapKey } from './compiled.ts'
import { typeOfValue } from './equality.ts'
import { absorbable, checkCost, type Frame, type Step } from './frame.ts'
import { describeKey } from './operators.ts'
import { EntryMap, type EvalFault, fault, isMapValue, ListValue, type MapKey, type Value } from './values.ts'

/** Calls `visit` for each element with the iteration variables set; a false answer ends the loop. */
type Loop = (f: Frame, visit: (f: Frame) => boolean) => void

export function compileComprehension(expr: ComprehensionExpr, compiler: Compiler): Compiled {
  if (expr.bind) return compileBind(expr, compiler)
  const range = compiler.step(expr.range)
  const slot = compiler.slots++
  const slot2 = expr.iterVar2 === undefined ? undefined : compiler.slots++
  const accu = compiler.slots++
  const loop = loopOver(range, slot, slot2)
  const locals: [string, Local][] = [[expr.iterVar, { slot }]]
  if (expr.iterVar2 !== undefined && slot2 !== undefined) locals.push([expr.iterVar2, { slot: slot2 }])
  locals.push([expr.accuVar, { slot: accu }])
  return compiler.withLocals(locals, () => {
    const step = expr.step as CallExpr
    if (step.kind === 'call') {
      if (step.fn === '_&&_') return { step: quantifier(loop, compiler.step(step.args[1] as Expr), false) }
      if (step.fn === '_||_') return { step: quantifier(loop, compiler.step(step.args[1] as Expr), true) }
      const grow = growth(step)
      if (grow !== undefined) return { step: collector(loop, grow, compiler) }
    }
    return { step: generic(expr, loop, accu, compiler) }
  })
}

function compileBind(expr: ComprehensionExpr, compiler: Compiler): Compiled {
  const slot = compiler.slots++
  const lazy = compiler.step(expr.init)
  const result = compiler.withLocals([[expr.accuVar, { slot, lazy }]], () => compiler.step(expr.result))
  return {
    step: f => {
      f.slots[slot] = undefined
      return result(f)
    },
  }
}

function loopOver(range: Step, slot: number, slot2: number | undefined): Loop {
  return (f, visit) => {
    const over = range(f)
    if (over instanceof ListValue) {
      for (let i = 0; i < over.size; i++) {
        if (slot2 === undefined) f.slots[slot] = over.at(i)
        else {
          f.slots[slot] = i
          f.slots[slot2] = over.at(i)
        }
        if (!visit(f)) return
        checkCost(f)
      }
      return
    }
    if (!isMapValue(over)) return fault(`got 'types.${goName(over)}', expected iterable type`)
    for (const key of over.keys()) {
      f.slots[slot] = key
      if (slot2 !== undefined) f.slots[slot2] = over.get(key) as Value
      if (!visit(f)) return
      checkCost(f)
    }
  }
}

function goName(value: Value): string {
  const name = typeOfValue(value).kind
  return `${name[0]?.toUpperCase()}${name.slice(1)}`
}

/** `all` (decisive false) and `exists` (decisive true). Costs are those of the expanded macro. */
function quantifier(loop: Loop, predicate: Step, decisive: boolean): Step {
  const perItem = decisive ? 4 : 3
  const condition = decisive ? 3 : 2
  return f => {
    let decided = false
    let first: EvalFault | undefined
    loop(f, inner => {
      if (decided) {
        inner.cost += condition
        return false
      }
      inner.cost += perItem
      try {
        const value = predicate(inner)
        if (value === decisive) decided = true
        else if (typeof value !== 'boolean') fault('no such overload')
      } catch (error) {
        const caught = absorbable(error)
        first ??= caught
      }
      return true
    })
    f.cost++
    if (decided) return decisive
    if (first !== undefined) throw first
    return !decisive
  }
}

interface Growth {
  readonly condition: Expr | undefined
  readonly call: CallExpr
}

/** Recognises `accu + [x]` and `cel.@mapInsert(accu, ...)`, with or without a condition. */
function growth(step: CallExpr): Growth | undefined {
  if (step.fn === '_?_:_') {
    const inner = growth(step.args[1] as CallExpr)
    return inner && { condition: step.args[0], call: inner.call }
  }
  const isCollect = step.fn === '_+_' && step.args[1]?.kind === 'list'
  return isCollect || step.fn === 'cel.@mapInsert' ? { condition: undefined, call: step } : undefined
}

function collector(loop: Loop, { condition, call }: Growth, compiler: Compiler): Step {
  const test = condition && compiler.step(condition)
  const grow = call.fn === '_+_' ? listGrowth(call, compiler) : mapGrowth(call, compiler)
  return f => {
    const state = grow.start()
    loop(f, inner => {
      if (test !== undefined) {
        const chosen = test(inner)
        if (chosen === false) return true
        if (chosen !== true) fault('no such overload')
      }
      state.add(inner)
      return true
    })
    f.cost++
    return state.finish()
  }
}

interface GrowthState {
  add(f: Frame): void
  finish(): Value
}

function listGrowth(call: CallExpr, compiler: Compiler): { start(): GrowthState } {
  const element = compiler.compile((call.args[1] as ListExpr).elements[0] as Expr)
  const cost = element.constant === undefined ? 12 : 2
  return {
    start() {
      const items: Value[] = []
      return {
        add(f) {
          items.push(element.step(f))
          f.cost += cost
        },
        finish: () => new ListValue(items),
      }
    },
  }
}

function mapGrowth(call: CallExpr, compiler: Compiler): { start(): GrowthState } {
  const steps = call.args.slice(1).map(a => compiler.step(a))
  return {
    start() {
      const entries = new Map<MapKey, readonly [Value, Value]>()
      const insert = (key: Value, value: Value): void => {
        const normal = mapKey(key)
        if (entries.has(normal)) fault(`insert failed: key ${describeKey(key)} already exists`)
        entries.set(normal, [key, value])
      }
      return {
        add(f) {
          const [first, second] = steps.map(s => s(f)) as [Value, Value | undefined]
          f.cost += 2
          if (second !== undefined) insert(first, second)
          else if (isMapValue(first)) for (const key of first.keys()) insert(key, first.get(key) as Value)
          else fault('no such overload')
        },
        finish: () => new EntryMap(entries),
      }
    },
  }
}

function generic(expr: ComprehensionExpr, loop: Loop, accu: number, compiler: Compiler): Step {
  const init = compiler.step(expr.init)
  const condition = compiler.step(expr.condition)
  const step = compiler.step(expr.step)
  const result = compiler.step(expr.result)
  return f => {
    f.slots[accu] = init(f)
    loop(f, inner => {
      const goOn = tryStep(condition, inner)
      if ('value' in goOn && goOn.value === false) return false
      inner.slots[accu] = step(inner)
      return true
    })
    return result(f)
  }
}
