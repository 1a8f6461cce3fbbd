import { encodeText } from '@coxswain/kit'
import { mostIssues } from './issues.ts'
import { CelDouble, CelUint, toInt, type Value } from './values.ts'

export type TokenKind = 'op' | 'ident' | 'quoted' | 'literal' | 'int' | 'double' | 'end'

export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly offset: number
  readonly value?: Value
  /** Integers: the digits' value, so that a leading minus can make -2^63 legal. */
  readonly digits?: bigint
}

/** All that is wrong with a source. */
export class SyntaxFaults {
  readonly faults: readonly SyntaxFault[]
  constructor(faults: readonly SyntaxFault[]) {
    this.faults = faults
  }
}

/** A syntax error at an offset of the source; -1 where it is about the whole. */
export class SyntaxFault {
  readonly message: string
  readonly offset: number
  constructor(message: string, offset: number) {
    this.message = message
    this.offset = offset
  }
}

const spacePattern = /(?:[\t \r\n\f]+|\/\/[^\n]*)+/y
const numberPattern =
  /0x[0-9a-fA-F]+[uU]?|(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)|[0-9]+[uU]?/y
const identPattern = /[A-Za-z_][A-Za-z0-9_]*/y
const quotedPattern = /`[A-Za-z0-9_.\-/ ]+`/y
const stringStart = /([bB]?[rR]?|[rR][bB])("""|'''|"|')/y
const operatorPattern = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(source)
}

/** The tokens, and what could not be read; reading goes on after it, as ANTLR's does. */
export function tokenize(source: string): { readonly tokens: Token[]; readonly faults: SyntaxFault[] } {
  const faults: SyntaxFault[] = []
  const tokens: Token[] = []
  let at = 0
  // Errors after the one that says that there are more are not reported.
  while (faults.length <= mostIssues) {
    at += match(spacePattern, source, at)?.[0].length ?? 0
    if (at >= source.length) break
    const read = nextToken(source, at)
    if ('token' in read) tokens.push(read.token)
    else
      faults.push(
        new SyntaxFault(`Syntax error: token recognition error at: '${source.slice(at, read.end)}'`, at),
      )
    at = read.end
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: source.length })
  return { tokens, faults }
}

/** A token, or the end of text that is none. */
type Reading = { readonly token: Token; readonly end: number } | { readonly end: number }

function nextToken(source: string, at: number): Reading {
  const opening = match(stringStart, source, at)
  if (opening !== null) return readString(source, at, opening)
  const number = match(numberPattern, source, at)
  if (number !== null) return { token: readNumber(number[0], at), end: at + number[0].length }
  const ident = match(identPattern, source, at)
  if (ident !== null) {
    const text = ident[0]
    return { token: keyword(text, at), end: at + text.length }
  }
  const quoted = match(quotedPattern, source, at)
  if (quoted !== null) {
    return { token: { kind: 'quoted', text: quoted[0].slice(1, -1), offset: at }, end: at + quoted[0].length }
  }
  const operator = match(operatorPattern, source, at)
  if (operator !== null) {
    return { token: { kind: 'op', text: operator[0], offset: at }, end: at + operator[0].length }
  }
  // Half of an operator is noticed at the character after it.
  const isHalf = /[=&|]/.test(source[at] ?? '')
  const width = (source.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return { end: Math.min(source.length, at + (isHalf ? 2 : width)) }
}

function keyword(text: string, offset: number): Token {
  switch (text) {
    case 'true':
      return { kind: 'literal', text, offset, value: true }
    case 'false':
      return { kind: 'literal', text, offset, value: false }
    case 'null':
      return { kind: 'literal', text, offset, value: null }
    case 'in':
      return { kind: 'op', text, offset }
    default:
      return { kind: 'ident', text, offset }
  }
}

function readNumber(text: string, offset: number): Token {
  const unsigned = /[uU]$/.test(text)
  const isHex = text.startsWith('0x')
  if (unsigned) {
    const value = BigInt(text.slice(0, -1))
    if (value >= 2n ** 64n) throw new SyntaxFault('invalid uint literal', offset)
    return { kind: 'literal', text, offset, value: new CelUint(value) }
  }
  if (!isHex && /[.eE]/.test(text)) {
    const value = Number(text)
    if (!Number.isFinite(value)) throw new SyntaxFault('invalid double literal', offset)
    return { kind: 'double', text, offset, value: new CelDouble(value) }
  }
  return { kind: 'int', text, offset, digits: BigInt(text) }
}

/** The value of an integer token, or undefined where it does not fit 64 bits. */
export function intLiteral(digits: bigint, negative: boolean): number | bigint | undefined {
  const value = negative ? -digits : digits
  if (value < -(2n ** 63n) || value >= 2n ** 63n) return undefined
  return toInt(value)
}

function readString(source: string, at: number, opening: RegExpExecArray): Reading {
  const prefix = (opening[1] ?? '').toLowerCase()
  const quote = opening[2] ?? '"'
  const raw = prefix.includes('r')
  const bytes = prefix.includes('b')
  let i = at + opening[0].length
  const start = i
  while (!source.startsWith(quote, i)) {
    const c = source[i]
    if (c === undefined || (quote.length === 1 && (c === '\n' || c === '\r'))) {
      return { end: Math.min(source.length, i + 1) }
    }
    if (c === '\\' && !raw) {
      knownEscape.lastIndex = i
      if (!knownEscape.test(source)) return { end: Math.min(source.length, i + 2) }
      i++
    }
    i++
  }
  const body = source.slice(start, i).replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  const value = bytes ? unescapeBytes(body, raw, at) : raw ? body : unescapeText(body, at)
  return {
    token: { kind: 'literal', text: source.slice(at, i + quote.length), offset: at, value },
    end: i + quote.length,
  }
}

const knownEscape = /\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/y
const escapePattern =
  /\\(?:([abfnrtv"'\\?`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]?))/g
const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

function codePoint(code: number, offset: number): string {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    throw new SyntaxFault('Syntax error: invalid unicode code point', offset)
  }
  return String.fromCodePoint(code)
}

function unescapeText(body: string, offset: number): string {
  if (!body.includes('\\')) return body
  return body.replace(escapePattern, (_, simple, hex, u4, u8, octal) => {
    if (simple !== undefined) return simpleEscapes[simple] ?? simple
    const digits = hex ?? u4 ?? u8
    if (digits !== undefined) return codePoint(Number.parseInt(digits, 16), offset)
    if (octal !== undefined) return codePoint(Number.parseInt(octal, 8), offset)
    throw new SyntaxFault('Syntax error: unable to unescape string', offset)
  })
}

function unescapeBytes(body: string, raw: boolean, offset: number): Uint8Array {
  if (raw || !body.includes('\\')) return encodeText(body)
  const out: number[] = []
  let last = 0
  for (const found of body.matchAll(escapePattern)) {
    for (const item of encodeText(body.slice(last, found.index))) out.push(item)
    last = found.index + found[0].length
    const [, simple, hex, u4, u8, octal] = found
    if (simple !== undefined) out.push((simpleEscapes[simple] ?? simple).charCodeAt(0))
    else if (hex !== undefined) out.push(Number.parseInt(hex, 16))
    else if (octal !== undefined) out.push(Number.parseInt(octal, 8))
    else if (u4 !== undefined || u8 !== undefined) {
      throw new SyntaxFault('Syntax error: unable to unescape string: unicode escape in bytes', offset)
    } else throw new SyntaxFault('Syntax error: unable to unescape string', offset)
  }
  for (const item of encodeText(body.slice(last))) out.push(item)
  return Uint8Array.from(out)
}
