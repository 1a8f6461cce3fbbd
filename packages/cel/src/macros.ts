import type { Expr } from './ast.ts'
import { SyntaxFault } from './lexer.ts'

/** Which syntax beyond the standard is known. */
export interface MacroOptions {
  readonly optionals: boolean
  readonly twoVariables: boolean
  readonly bindings: boolean
  readonly math: boolean
  readonly sortBy: boolean
  /** Field names in backticks. */
  readonly quotedNames: boolean
}

interface Call {
  readonly fn: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
  readonly offset: number
}

/** The accumulator's name cannot be written in an expression, so it hides nothing. */
const accu = '@result'

const ident = (name: string, offset: number): Expr => ({ kind: 'ident', name, offset })
const constant = (value: boolean | number, offset: number): Expr => ({ kind: 'const', value, offset })
const call = (fn: string, offset: number, ...args: Expr[]): Expr => ({
  kind: 'call',
  fn,
  target: undefined,
  args,
  offset,
})
const list = (offset: number, ...elements: Expr[]): Expr => ({
  kind: 'list',
  elements,
  optional: new Set(),
  offset,
})

/** A call, or what the macro of that name and number of arguments stands for. */
export function expandMacro(node: Call, options: MacroOptions): Expr {
  const { fn, target, args, offset } = node
  const plain: Expr = { kind: 'call', fn, target, args, offset }
  if (target === undefined)
    return fn === 'has' && args.length === 1 ? expandHas(args[0] as Expr, offset) : plain
  const [first, second, third, fourth] = args
  if (target.kind === 'ident') {
    if (options.bindings && target.name === 'cel' && fn === 'bind' && args.length === 3) {
      return bind(variable(first), second as Expr, third as Expr, offset)
    }
    if (options.math && target.name === 'math' && (fn === 'greatest' || fn === 'least')) {
      return expandMath(fn, args, offset)
    }
  }
  if (options.optionals && args.length === 2 && (fn === 'optMap' || fn === 'optFlatMap')) {
    return expandOptional(node, fn === 'optMap')
  }
  if (options.sortBy && fn === 'sortBy' && args.length === 2)
    return expandSortBy(target, first, second as Expr, offset)
  if (args.length === 2 && first !== undefined && second !== undefined) {
    const step = oneVariable[fn]
    if (step !== undefined)
      return loop(target, variable(first), undefined, offset, step(second, variable(first), offset))
  }
  if (args.length === 3 && fn === 'map' && second !== undefined && third !== undefined) {
    return loop(target, variable(first), undefined, offset, collect(third, second, offset))
  }
  if (options.twoVariables && (args.length === 3 || args.length === 4)) {
    const step = twoVariables[fn]
    if (step !== undefined && third !== undefined && (args.length === 3 || fn.startsWith('transform'))) {
      if (variable(first) === variable(second)) {
        throw new SyntaxFault(`duplicate variable name: ${variable(second)}`, second?.offset ?? offset)
      }
      const [body, condition] = fourth === undefined ? [third, undefined] : [fourth, third]
      return loop(
        target,
        variable(first),
        variable(second),
        offset,
        step(body, condition, variable(first), offset),
      )
    }
  }
  return plain
}

interface Loop {
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

function loop(range: Expr, iterVar: string, iterVar2: string | undefined, offset: number, parts: Loop): Expr {
  return { kind: 'comprehension', range, iterVar, iterVar2, accuVar: accu, ...parts, bind: false, offset }
}

function variable(expr: Expr | undefined): string {
  if (expr?.kind === 'ident' && !expr.name.startsWith('.')) {
    if (expr.name === accu || expr.name === '__result__') {
      throw new SyntaxFault('iteration variable overwrites accumulator variable', expr.offset)
    }
    return expr.name
  }
  throw new SyntaxFault('argument must be a simple name', expr?.offset ?? 0)
}

function expandHas(arg: Expr, offset: number): Expr {
  if (arg.kind !== 'select') throw new SyntaxFault('invalid argument to has() macro', arg.offset)
  return { ...arg, testOnly: true, offset }
}

function all(predicate: Expr, o: number): Loop {
  return {
    init: constant(true, o),
    condition: call('@not_strictly_false', o, ident(accu, o)),
    step: call('_&&_', o, ident(accu, o), predicate),
    result: ident(accu, o),
  }
}

function exists(predicate: Expr, o: number): Loop {
  return {
    init: constant(false, o),
    condition: call('@not_strictly_false', o, call('!_', o, ident(accu, o))),
    step: call('_||_', o, ident(accu, o), predicate),
    result: ident(accu, o),
  }
}

function existsOne(predicate: Expr, o: number): Loop {
  return {
    init: constant(0, o),
    condition: constant(true, o),
    step: call('_?_:_', o, predicate, call('_+_', o, ident(accu, o), constant(1, o)), ident(accu, o)),
    result: call('_==_', o, ident(accu, o), constant(1, o)),
  }
}

function collect(element: Expr, condition: Expr | undefined, o: number): Loop {
  const grow = call('_+_', o, ident(accu, o), list(o, element))
  return {
    init: list(o),
    condition: constant(true, o),
    step: condition === undefined ? grow : call('_?_:_', o, condition, grow, ident(accu, o)),
    result: ident(accu, o),
  }
}

const oneVariable: Readonly<Record<string, (body: Expr, name: string, offset: number) => Loop>> = {
  // The prototype is null so that a call such as x.constructor(a, b) finds nothing.
  __proto__: null as never,
  all: (body, _, o) => all(body, o),
  exists: (body, _, o) => exists(body, o),
  exists_one: (body, _, o) => existsOne(body, o),
  existsOne: (body, _, o) => existsOne(body, o),
  map: (body, _, o) => collect(body, undefined, o),
  filter: (body, name, o) => collect(ident(name, o), body, o),
}

function insert(args: readonly Expr[], condition: Expr | undefined, o: number): Loop {
  const grow = call('cel.@mapInsert', o, ident(accu, o), ...args)
  return {
    init: { kind: 'map', entries: [], offset: o },
    condition: constant(true, o),
    step: condition === undefined ? grow : call('_?_:_', o, condition, grow, ident(accu, o)),
    result: ident(accu, o),
  }
}

type TwoVariableStep = (body: Expr, condition: Expr | undefined, key: string, offset: number) => Loop

const twoVariables: Readonly<Record<string, TwoVariableStep>> = {
  __proto__: null as never,
  all: (body, _c, _k, o) => all(body, o),
  exists: (body, _c, _k, o) => exists(body, o),
  exists_one: (body, _c, _k, o) => existsOne(body, o),
  existsOne: (body, _c, _k, o) => existsOne(body, o),
  transformList: (body, condition, _k, o) => collect(body, condition, o),
  transformMap: (body, condition, key, o) => insert([ident(key, o), body], condition, o),
  transformMapEntry: (body, condition, _k, o) => insert([body], condition, o),
}

function bind(name: string, init: Expr, result: Expr, offset: number): Expr {
  return {
    kind: 'comprehension',
    range: list(offset),
    iterVar: '#unused',
    iterVar2: undefined,
    accuVar: name,
    init,
    condition: constant(false, offset),
    step: ident(name, offset),
    result,
    bind: true,
    offset,
  }
}

const sorted = '@__sortBy_input__'

function expandSortBy(target: Expr, name: Expr | undefined, key: Expr, offset: number): Expr {
  const input = (): Expr => ident(sorted, offset)
  const keys = loop(input(), variable(name), undefined, offset, collect(key, undefined, offset))
  const call: Expr = { kind: 'call', fn: '@sortByAssociatedKeys', target: input(), args: [keys], offset }
  return bind(sorted, target, call, offset)
}

function expandOptional({ target, args, offset }: Call, wrap: boolean): Expr {
  const operand = target as Expr
  const name = variable(args[0])
  const member = (fn: string): Expr => ({ kind: 'call', fn, target: operand, args: [], offset })
  const mapped = bind(name, member('value'), args[1] as Expr, offset)
  const some = wrap ? call('optional.of', offset, mapped) : mapped
  return call('_?_:_', offset, member('hasValue'), some, call('optional.none', offset))
}

function expandMath(fn: string, args: readonly Expr[], offset: number): Expr {
  const [only] = args
  if (only === undefined) throw new SyntaxFault(`math.${fn}() requires at least one argument`, offset)
  for (const arg of args) {
    const isLiteral = arg.kind === 'const' && typeof arg.value !== 'number' && typeof arg.value !== 'bigint'
    const numeric = arg.kind === 'const' && !isLiteral
    const wrong =
      (isLiteral && !isNumericLiteral(arg)) || arg.kind === 'map' || (arg.kind === 'list' && args.length > 1)
    if (!numeric && wrong) throw new SyntaxFault(`math.${fn}() invalid single argument value`, arg.offset)
  }
  const target = fn === 'greatest' ? 'math.@max' : 'math.@min'
  return args.length <= 2 ? call(target, offset, ...args) : call(target, offset, list(offset, ...args))
}

function isNumericLiteral(expr: Expr): boolean {
  return (
    expr.kind === 'const' && typeof expr.value === 'object' && expr.value !== null && 'value' in expr.value
  )
}
