import type { Expr, MapEntryExpr, StructExpr } from './ast.ts'
import { mostIssues } from './issues.ts'
import { intLiteral, SyntaxFault, SyntaxFaults, type Token, tokenize } from './lexer.ts'
import { expandMacro, type MacroOptions } from './macros.ts'
import { CelDouble } from './values.ts'

const reserved: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop null package namespace return true var void while'.split(
    ' ',
  ),
)

/** As deep as cel-go lets expressions nest. */
const maxDepth = 250
const maxCodePoints = 100_000

const relations: ReadonlySet<string> = new Set(['<', '<=', '>=', '>', '==', '!=', 'in'])
const products: ReadonlySet<string> = new Set(['*', '/', '%'])
const sums: ReadonlySet<string> = new Set(['+', '-'])

/** Parses one expression and expands its macros. Throws SyntaxFaults. */
export function parse(source: string, options: MacroOptions): Expr {
  const size = source.length > maxCodePoints ? [...source].length : 0
  if (size > maxCodePoints) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${maxCodePoints}`
    throw new SyntaxFaults([new SyntaxFault(message, -1)])
  }
  const faults: SyntaxFault[] = []
  try {
    const read = tokenize(source)
    if (read.faults.length > mostIssues) throw new SyntaxFaults(read.faults)
    for (const item of read.faults) faults.push(item)
    const expr = new Parser(read.tokens, options).whole()
    if (faults.length === 0) return expr
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error
    faults.push(error)
  }
  throw new SyntaxFaults(faults)
}

function call(fn: string, offset: number, ...args: Expr[]): Expr {
  return { kind: 'call', fn, target: undefined, args, offset }
}

const operands =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

class Parser {
  readonly #tokens: readonly Token[]
  readonly #options: MacroOptions
  #at = 0
  #depth = 0

  constructor(tokens: readonly Token[], options: MacroOptions) {
    this.#tokens = tokens
    this.#options = options
  }

  whole(): Expr {
    const expr = this.#expr()
    if (this.#peek().kind !== 'end') this.#unexpected('<EOF>')
    return expr
  }

  #peek(): Token {
    return this.#tokens[this.#at] as Token
  }

  #next(): Token {
    const token = this.#peek()
    if (token.kind !== 'end') this.#at++
    return token
  }

  #is(text: string): boolean {
    const token = this.#peek()
    return token.kind === 'op' && token.text === text
  }

  #take(text: string): Token | undefined {
    return this.#is(text) ? this.#next() : undefined
  }

  #expect(text: string): Token {
    const taken = this.#take(text)
    if (taken !== undefined) return taken
    const next = this.#tokens[this.#at + 1]
    if (next?.kind === 'op' && next.text === text) return this.#unexpected(`'${text}'`)
    const { text: found, offset } = this.#peek()
    throw new SyntaxFault(`Syntax error: missing '${text}' at '${found}'`, offset)
  }

  /** The end of a list or map, before which a comma might stand. */
  #expectClose(text: string): void {
    if (this.#take(text) !== undefined) return
    const { text: found, offset } = this.#peek()
    throw new SyntaxFault(`Syntax error: mismatched input '${found}' expecting {'${text}', ','}`, offset)
  }

  #unexpected(expecting: string): never {
    const { text, offset, kind } = this.#peek()
    const next = this.#tokens[this.#at + 1]
    // ANTLR drops a token where the one after it is what it wants.
    const fits = expecting !== '<EOF>' || next?.kind === 'end'
    const word = kind !== 'end' && fits ? 'extraneous' : 'mismatched'
    throw new SyntaxFault(`Syntax error: ${word} input '${text}' expecting ${expecting}`, offset)
  }

  /** ANTLR drops a token where the next could start the operand. */
  #noOperand(): never {
    const next = this.#tokens[this.#at + 1]
    const couldStart =
      next !== undefined && (next.kind === 'op' ? '([{.-!'.includes(next.text) : next.kind !== 'end')
    const { text, offset } = this.#peek()
    const word = couldStart ? 'extraneous' : 'mismatched'
    throw new SyntaxFault(`Syntax error: ${word} input '${text}' expecting ${operands}`, offset)
  }

  #noField(): never {
    const { text, offset, kind } = this.#peek()
    throw new SyntaxFault(
      `Syntax error: no viable alternative at input '.${kind === 'end' ? '' : text}'`,
      offset,
    )
  }

  #expr(): Expr {
    if (++this.#depth > maxDepth) {
      throw new SyntaxFault(`expression recursion limit exceeded: ${maxDepth}`, -1)
    }
    const condition = this.#logic('||', '_||_', () => this.#logic('&&', '_&&_', () => this.#binary(0)))
    const question = this.#take('?')
    let result = condition
    if (question !== undefined) {
      const truthy = this.#logic('||', '_||_', () => this.#logic('&&', '_&&_', () => this.#binary(0)))
      this.#expect(':')
      result = call('_?_:_', question.offset, condition, truthy, this.#expr())
    }
    this.#depth--
    return result
  }

  #logic(operator: string, fn: string, operand: () => Expr): Expr {
    const terms = [operand()]
    const offsets: number[] = []
    for (let token = this.#take(operator); token !== undefined; token = this.#take(operator)) {
      offsets.push(token.offset)
      terms.push(operand())
    }
    return balance(fn, terms, offsets, 0, terms.length - 1)
  }

  #binary(level: 0 | 1 | 2): Expr {
    const operators = level === 0 ? relations : level === 1 ? sums : products
    const operand = (): Expr => (level === 2 ? this.#unary() : this.#binary((level + 1) as 1 | 2))
    let left = operand()
    let chained = 0
    for (let token = this.#peek(); token.kind === 'op' && operators.has(token.text); token = this.#peek()) {
      this.#next()
      this.#checkChain(++chained)
      const fn = token.text === 'in' ? '@in' : `_${token.text}_`
      left = call(fn, token.offset, left, operand())
    }
    return left
  }

  /** Chains of operators make trees as deep as they are long. */
  #checkChain(length: number): void {
    if (length + this.#depth > maxDepth) throw new SyntaxFault('max recursion depth exceeded', -1)
  }

  #unary(): Expr {
    const first = this.#peek()
    if (first.kind !== 'op' || (first.text !== '!' && first.text !== '-'))
      return this.#member(this.#primary())
    let count = 0
    while (this.#is(first.text)) {
      const last = this.#next()
      count++
      const literal = first.text === '-' ? this.#peek() : undefined
      if (literal?.kind === 'int' || literal?.kind === 'double') {
        const operand = this.#member(this.#negated(this.#next(), last.offset))
        return (count - 1) % 2 === 0 ? operand : call('-_', first.offset, operand)
      }
    }
    const operand = this.#member(this.#primary())
    if (count % 2 === 0) return operand
    return call(first.text === '!' ? '!_' : '-_', first.offset, operand)
  }

  #negated(token: Token, offset: number): Expr {
    if (token.kind === 'double') {
      return { kind: 'const', value: new CelDouble(-(token.value as CelDouble).value), offset }
    }
    return this.#int(token.digits ?? 0n, true, offset)
  }

  #int(digits: bigint, negative: boolean, offset: number): Expr {
    const value = intLiteral(digits, negative)
    if (value === undefined) throw new SyntaxFault('invalid int literal', offset)
    return { kind: 'const', value, offset }
  }

  #member(start: Expr): Expr {
    let expr = start
    let chained = 0
    while (true) {
      const dot = this.#take('.')
      if (dot !== undefined) {
        expr = this.#select(expr, dot.offset)
      } else {
        const open = this.#take('[')
        if (open === undefined) break
        const optional = this.#take('?') !== undefined
        const index = this.#expr()
        this.#expect(']')
        expr = call(optional ? '_[?_]' : '_[_]', open.offset, expr, index)
      }
      this.#checkChain(++chained)
    }
    return expr
  }

  #select(operand: Expr, offset: number): Expr {
    const optional = this.#take('?') !== undefined
    const name = this.#peek()
    if (name.kind !== 'ident' && name.kind !== 'quoted') return this.#noField()
    this.#checkQuoted(name)
    this.#next()
    if (optional) {
      return call('_?._', offset, operand, { kind: 'const', value: name.text, offset: name.offset })
    }
    if (name.kind === 'ident') {
      const open = this.#take('(')
      if (open !== undefined) {
        return expandMacro(
          { fn: name.text, target: operand, args: this.#args(), offset: open.offset },
          this.#options,
        )
      }
    }
    if (name.kind === 'ident' && this.#is('{')) {
      const path = dottedName(operand)
      if (path !== undefined) return this.#struct(`${path}.${name.text}`)
    }
    return { kind: 'select', operand, field: name.text, testOnly: false, offset }
  }

  #checkQuoted(name: Token): void {
    if (name.kind === 'quoted' && !this.#options.quotedNames)
      throw new SyntaxFault("unsupported syntax: '`'", name.offset)
  }

  #args(): Expr[] {
    const args: Expr[] = []
    if (this.#take(')') !== undefined) return args
    do args.push(this.#expr())
    while (this.#take(',') !== undefined)
    this.#expect(')')
    return args
  }

  #primary(): Expr {
    const token = this.#peek()
    switch (token.kind) {
      case 'literal':
      case 'double':
        this.#next()
        return { kind: 'const', value: token.value ?? null, offset: token.offset }
      case 'int':
        this.#next()
        return this.#int(token.digits ?? 0n, false, token.offset)
      case 'ident':
        return this.#identifier('')
      case 'op':
        return this.#bracketed(token)
      default:
        return this.#noOperand()
    }
  }

  #identifier(prefix: string): Expr {
    const name = this.#peek()
    if (name.kind !== 'ident') return this.#unexpected('IDENTIFIER')
    this.#next()
    if (reserved.has(name.text)) throw new SyntaxFault(`reserved identifier: ${name.text}`, name.offset)
    const open = this.#take('(')
    if (open !== undefined) {
      return expandMacro(
        { fn: prefix + name.text, target: undefined, args: this.#args(), offset: open.offset },
        this.#options,
      )
    }
    if (this.#is('{')) return this.#struct(prefix + name.text)
    return { kind: 'ident', name: prefix + name.text, offset: name.offset }
  }

  #bracketed(token: Token): Expr {
    switch (token.text) {
      case '(': {
        this.#next()
        const inner = this.#expr()
        this.#expect(')')
        return inner
      }
      case '[':
        return this.#list()
      case '{':
        return this.#map()
      case '.':
        this.#next()
        return this.#identifier('.')
      default:
        return this.#noOperand()
    }
  }

  #list(): Expr {
    const { offset } = this.#next()
    const elements: Expr[] = []
    const optional = new Set<number>()
    while (!this.#is(']')) {
      if (this.#take('?') !== undefined) optional.add(elements.length)
      elements.push(this.#expr())
      if (this.#take(',') === undefined) break
    }
    this.#expectClose(']')
    return { kind: 'list', elements, optional, offset }
  }

  #map(): Expr {
    const { offset } = this.#next()
    const entries: MapEntryExpr[] = []
    while (!this.#is('}')) {
      const optional = this.#take('?') !== undefined
      const key = this.#expr()
      this.#expect(':')
      entries.push({ key, value: this.#expr(), optional })
      if (this.#take(',') === undefined) break
    }
    this.#expectClose('}')
    return { kind: 'map', entries, offset }
  }

  #struct(name: string): Expr {
    const { offset } = this.#next()
    const fields: StructExpr['fields'][number][] = []
    while (!this.#is('}')) {
      const optional = this.#take('?') !== undefined
      const field = this.#peek()
      if (field.kind !== 'ident' && field.kind !== 'quoted') this.#unexpected('IDENTIFIER')
      this.#checkQuoted(field)
      this.#next()
      const { offset: colon } = this.#expect(':')
      fields.push({ name: field.text, value: this.#expr(), optional, offset: colon })
      if (this.#take(',') === undefined) break
    }
    this.#expect('}')
    return { kind: 'struct', name, fields, offset }
  }
}

function balance(
  fn: string,
  terms: readonly Expr[],
  offsets: readonly number[],
  low: number,
  high: number,
): Expr {
  if (low === high) return terms[low] as Expr
  const middle = (low + high) >> 1
  const left = balance(fn, terms, offsets, low, middle)
  return call(fn, offsets[middle] ?? 0, left, balance(fn, terms, offsets, middle + 1, high))
}

/** `a.b.c` as text where the expression is a plain chain of names. */
export function dottedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.testOnly) return undefined
  const head = dottedName(expr.operand)
  return head === undefined ? undefined : `${head}.${expr.field}`
}
