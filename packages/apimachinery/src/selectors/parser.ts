import { MachineryError } from '../errors.ts'
import { formatFieldError } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { compareCodePoints } from '../go/print-value.ts'
import { Lexer, type Token, type TokenKind } from './lexer.ts'
import { checkKey, createRequirement, type LabelOperator, type Requirement } from './requirement.ts'

/**
 * The requirements of a selector's text, in the order of the text.
 *
 *   selector    = [ requirement *( "," requirement ) ]
 *   requirement = [ "!" ] key | key operator value | key ( "in" | "notin" ) "(" [ values ] ")"
 *
 * @throws MachineryError `BadSelector`
 */
export function parseRequirements(text: string, path: Path = Path.root): Requirement[] {
  return new Parser(text, path).parse()
}

function fail(message: string): never {
  throw new MachineryError('BadSelector', message)
}

const operators: Readonly<Partial<Record<TokenKind, LabelOperator>>> = {
  in: 'in',
  '=': '=',
  '==': '==',
  '>': 'gt',
  '<': 'lt',
  notin: 'notin',
  '!=': '!=',
}

class Parser {
  readonly #lexer: Lexer
  readonly #path: Path
  #token: Token

  constructor(text: string, path: Path) {
    this.#lexer = new Lexer(text)
    this.#path = path
    this.#token = this.#lexer.next()
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = []
    for (;;) {
      const { kind, literal } = this.#peek()
      if (kind === 'end') return requirements
      if (kind !== 'identifier' && kind !== '!') {
        fail(`found '${literal}', expected: !, identifier, or 'end of string'`)
      }
      requirements.push(this.#requirementOrExplained())
      const after = this.#next()
      if (after.kind === 'end') return requirements
      if (after.kind !== ',') fail(`found '${after.literal}', expected: ',' or 'end of string'`)
      const following = this.#peek()
      if (following.kind !== 'identifier' && following.kind !== '!') {
        fail(`found '${following.literal}', expected: identifier after ','`)
      }
    }
  }

  #requirementOrExplained(): Requirement {
    try {
      return this.#requirement()
    } catch (error) {
      return fail(`unable to parse requirement: ${(error as Error).message}`)
    }
  }

  #requirement(): Requirement {
    const negated = this.#peek().kind === '!'
    if (negated) this.#next()
    const { kind, literal: key } = this.#next()
    if (kind !== 'identifier') fail(`found '${key}', expected: identifier`)
    const [wrong] = checkKey(key, () => this.#path)
    if (wrong) fail(formatFieldError(wrong))
    const following = this.#peek().kind
    // The caller rejects what follows `!key`.
    if (negated || following === 'end' || following === ',') {
      return createRequirement(key, negated ? '!' : 'exists', [], this.#path)
    }
    const operator = this.#operator()
    const values = operator === 'in' || operator === 'notin' ? this.#values() : this.#exactValue()
    return createRequirement(key, operator, sortedSet(values), this.#path)
  }

  #operator(): LabelOperator {
    const { kind, literal } = this.#consume()
    return operators[kind] ?? fail(`found '${literal}', expected: in, notin, =, ==, !=, gt, lt`)
  }

  #values(): string[] {
    const open = this.#next()
    if (open.kind !== '(') fail(`found '${open.literal}' expected: '('`)
    const { kind, literal } = this.#peek()
    if (kind === ')') {
      this.#next()
      return ['']
    }
    if (kind !== 'identifier' && kind !== ',') fail(`found '${literal}', expected: ',', ')' or identifier`)
    const values = this.#identifiers()
    this.#next()
    return values
  }

  // Up to the closing parenthesis, which is not consumed. Nothing between commas is the empty value.
  #identifiers(): string[] {
    const values: string[] = []
    for (;;) {
      const { kind, literal } = this.#next()
      const following = this.#peek()
      if (kind === 'identifier') {
        values.push(literal)
        if (following.kind === ')') return values
        if (following.kind !== ',') fail(`found '${following.literal}', expected: ',' or ')'`)
      } else if (kind === ',') {
        if (values.length === 0) values.push('')
        if (following.kind === ')') return [...values, '']
        if (following.kind === ',') values.push('')
      } else {
        fail(`found '${literal}', expected: ',', or identifier`)
      }
    }
  }

  #exactValue(): string[] {
    const { kind, literal } = this.#peek()
    if (kind === 'end' || kind === ',') return ['']
    this.#next()
    return kind === 'identifier' ? [literal] : fail(`found '${literal}', expected: identifier`)
  }

  /** The next token where `in` and `notin` are ordinary words. */
  #peek(): Token {
    const { kind, literal } = this.#token
    return kind === 'in' || kind === 'notin' ? { kind: 'identifier', literal } : this.#token
  }

  #next(): Token {
    const token = this.#peek()
    this.#token = this.#lexer.next()
    return token
  }

  /** The next token where they are operators. */
  #consume(): Token {
    const token = this.#token
    this.#token = this.#lexer.next()
    return token
  }
}

function sortedSet(values: readonly string[]): string[] {
  return values.length < 2 ? [...values] : [...new Set(values)].sort(compareCodePoints)
}
