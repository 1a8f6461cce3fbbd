import { MachineryError } from '../errors.ts'
import { quote } from '../go/quote.ts'
import { setMember } from './value.ts'

/** As in Go's decoder: an array or object nested deeper than this is an error. */
const maxDepth = 10_000
/** As in Kubernetes' strict decoder: more repeated members than this are not reported. */
const maxDuplicates = 100

const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

export interface ExactResult {
  readonly value: unknown
  readonly duplicates: readonly string[]
  readonly literals: Literals
}

/** The spelling of numbers that are not plain whole numbers within int64, by the array or object that holds them. */
export type Literals = ReadonlyMap<object, ReadonlyMap<string | number, string>>

type Container = unknown[] | Record<string, unknown>

/** One open array or object. `key` is the member being read. */
interface Frame {
  readonly container: Container
  key: string
  /** Keys whose repetition has been reported. */
  repeated?: Set<string>
  /** Keys that were read here, when the object had some before. */
  seen?: Set<string>
}

/**
 * Reads a JSON text the way Kubernetes' decoder does, keeping what `JSON.parse` loses: repeated members and their
 * paths, whole numbers beyond 2^53 (as bigint while they fit int64, else the nearest double, as in Go), the spelling of
 * other numbers. Needs no stack in proportion to the depth. Throws with the wording of Go's scanner.
 */
export function readExactly(text: string, mergeRepeated = false): ExactResult {
  return new ExactReader(text, mergeRepeated).read()
}

class ExactReader {
  readonly #text: string
  readonly #mergeRepeated: boolean
  readonly #stack: Frame[] = []
  readonly #duplicates = new Set<string>()
  readonly #literals = new Map<object, Map<string | number, string>>()
  #at = 0
  /** The first number too large for a double. A syntax error later in the text takes precedence over it. */
  #overflow: string | undefined

  constructor(text: string, mergeRepeated: boolean) {
    this.#text = text
    this.#mergeRepeated = mergeRepeated
  }

  read(): ExactResult {
    const value = this.#document()
    this.#skipSpace()
    if (this.#at < this.#text.length) this.#fail('after top-level value')
    if (this.#overflow !== undefined) {
      const what = `number ${this.#overflow} into Go value of type float64`
      throw new MachineryError('BadJson', `json: cannot unmarshal ${what}`)
    }
    return { value, duplicates: [...this.#duplicates], literals: this.#literals }
  }

  /** Reads values until the outermost one is complete; open containers wait on the stack. */
  #document(): unknown {
    for (;;) {
      let value = this.#beginValue()
      if (value === opened) continue
      for (;;) {
        const frame = this.#stack.at(-1)
        if (frame === undefined) return value
        this.#store(frame, value)
        if (this.#continues(frame)) break
        this.#stack.pop()
        value = frame.container
      }
    }
  }

  /** A scalar or an empty container is returned whole; for any other container, the token {@link opened}. */
  #beginValue(): unknown {
    this.#skipSpace()
    const c = this.#text.charCodeAt(this.#at)
    switch (c) {
      case 0x7b:
        return this.#open(this.#objectFrame(), 0x7d)
      case 0x5b:
        return this.#open({ container: [], key: '' }, 0x5d)
      case 0x22:
        this.#at++
        return this.#string()
      case 0x74:
        return this.#word('true', true)
      case 0x66:
        return this.#word('false', false)
      case 0x6e:
        return this.#word('null', null)
      default:
        if (c === 0x2d || isDigit(c)) return this.#number()
        return this.#fail('looking for beginning of value')
    }
  }

  /** A duplicate object continues the first one, when duplicates are merged. */
  #objectFrame(): Frame {
    const parent = this.#stack.at(-1)
    if (this.#mergeRepeated && parent && !Array.isArray(parent.container)) {
      const present = Object.hasOwn(parent.container, parent.key) && parent.container[parent.key]
      if (typeof present === 'object' && present !== null && !Array.isArray(present))
        return { container: present as Record<string, unknown>, key: '', seen: new Set() }
    }
    return { container: {}, key: '' }
  }

  #open(frame: Frame, close: number): unknown {
    if (this.#stack.length >= maxDepth) this.#fail('exceeded max depth')
    this.#at++
    this.#skipSpace()
    if (this.#text.charCodeAt(this.#at) === close) {
      this.#at++
      return frame.container
    }
    this.#stack.push(frame)
    if (close === 0x7d) this.#key(frame)
    return opened
  }

  #key(frame: Frame): void {
    this.#skipSpace()
    if (this.#text.charCodeAt(this.#at) !== 0x22) this.#fail('looking for beginning of object key string')
    this.#at++
    const key = this.#string()
    this.#skipSpace()
    if (this.#text.charCodeAt(this.#at) !== 0x3a) this.#fail('after object key')
    this.#at++
    frame.key = key
    if (frame.seen ? frame.seen.has(key) : Object.hasOwn(frame.container, key)) this.#reportRepeated(frame)
    frame.seen?.add(key)
  }

  /** A path is as long as the nesting is deep, so it is made once for each key, however often that comes. */
  #reportRepeated(frame: Frame): void {
    frame.repeated ??= new Set()
    if (frame.repeated.has(frame.key) || this.#duplicates.size >= maxDuplicates) return
    frame.repeated.add(frame.key)
    this.#duplicates.add(this.#path())
  }

  #store(frame: Frame, value: unknown): void {
    if (Array.isArray(frame.container)) frame.container.push(value)
    else setMember(frame.container, frame.key, value)
  }

  /** After a value in `frame`: true when a comma and, in an object, the next key were read; false at its end. */
  #continues(frame: Frame): boolean {
    this.#skipSpace()
    const c = this.#text.charCodeAt(this.#at)
    const object = !Array.isArray(frame.container)
    if (c === 0x2c) {
      this.#at++
      if (object) this.#key(frame)
      return true
    }
    if (c !== (object ? 0x7d : 0x5d))
      this.#fail(object ? 'after object key:value pair' : 'after array element')
    this.#at++
    return false
  }

  #word<T>(word: string, value: T): T {
    for (let i = 1; i < word.length; i++) {
      this.#at++
      if (this.#text[this.#at] !== word[i]) this.#fail(`in literal ${word} (expecting '${word[i]}')`)
    }
    this.#at++
    return value
  }

  #number(): number | bigint {
    const text = this.#text
    const start = this.#at
    if (text.charCodeAt(this.#at) === 0x2d) this.#at++
    if (text.charCodeAt(this.#at) === 0x30) this.#at++
    else this.#digits('in numeric literal')
    let whole = true
    if (text.charCodeAt(this.#at) === 0x2e) {
      whole = false
      this.#at++
      this.#digits('after decimal point in numeric literal')
    }
    if ((text.charCodeAt(this.#at) | 0x20) === 0x65) {
      whole = false
      this.#at++
      const sign = text.charCodeAt(this.#at)
      if (sign === 0x2b || sign === 0x2d) this.#at++
      this.#digits('in exponent of numeric literal')
    }
    const literal = text.slice(start, this.#at)
    const value = Number(literal)
    if (whole && Number.isSafeInteger(value)) return value + 0 // no negative zero
    // 20 characters hold every int64; longer texts must not reach BigInt, which takes quadratic time.
    if (whole && literal.length <= 20) {
      const exact = BigInt(literal)
      if (exact >= minInt64 && exact <= maxInt64) return exact
    }
    if (!Number.isFinite(value)) this.#overflow ??= literal
    this.#keepLiteral(literal)
    return value
  }

  #digits(context: string): void {
    if (!isDigit(this.#text.charCodeAt(this.#at))) this.#fail(context)
    do this.#at++
    while (isDigit(this.#text.charCodeAt(this.#at)))
  }

  #keepLiteral(literal: string): void {
    const frame = this.#stack.at(-1)
    if (frame === undefined) return
    let literals = this.#literals.get(frame.container)
    if (literals === undefined) {
      literals = new Map()
      this.#literals.set(frame.container, literals)
    }
    literals.set(Array.isArray(frame.container) ? frame.container.length : frame.key, literal)
  }

  /** The text of a string whose opening quote was read. Unpaired surrogates become U+FFFD, as in Go. */
  #string(): string {
    const text = this.#text
    const start = this.#at
    let plain = start
    let result = ''
    for (;;) {
      const c = text.charCodeAt(this.#at)
      if (c === 0x22) {
        const tail = text.slice(plain, this.#at++)
        return plain === start ? tail : (result + tail).toWellFormed()
      }
      if (c === 0x5c) {
        result += text.slice(plain, this.#at) + this.#escape()
        plain = this.#at
      } else if (c < 0x20 || Number.isNaN(c)) {
        this.#fail('in string literal')
      } else {
        this.#at++
      }
    }
  }

  #escape(): string {
    const c = this.#text[++this.#at]
    if (c === 'u') {
      let unit = 0
      for (let i = 0; i < 4; i++) {
        const digit = hexDigit(this.#text.charCodeAt(++this.#at))
        if (digit < 0) this.#fail('in \\u hexadecimal character escape')
        unit = unit * 16 + digit
      }
      this.#at++
      return String.fromCharCode(unit)
    }
    const plain = c === undefined ? undefined : escapes[c]
    if (plain === undefined) this.#fail('in string escape code')
    this.#at++
    return plain
  }

  #skipSpace(): void {
    for (;;) {
      const c = this.#text.charCodeAt(this.#at)
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return
      this.#at++
    }
  }

  /** The path of the member being read: keys as they are, joined by dots, indices in brackets. */
  #path(): string {
    let path = ''
    for (const frame of this.#stack) {
      if (Array.isArray(frame.container)) path += `[${frame.container.length}]`
      else path += path === '' ? frame.key : `.${frame.key}`
    }
    return path
  }

  #fail(context: string): never {
    const code = this.#text.codePointAt(this.#at)
    const message =
      code === undefined ? 'unexpected end of JSON input' : `invalid character ${quoteByte(code)} ${context}`
    throw new MachineryError('BadJson', message)
  }
}

const opened: unique symbol = Symbol('opened')

const escapes: Readonly<Record<string, string>> = {
  __proto__: null as never,
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39
}

function hexDigit(c: number): number {
  if (isDigit(c)) return c - 0x30
  const lower = c | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** Go's scanner sees bytes, and prints the offending one as the character of that number. */
function quoteByte(code: number): string {
  const byte =
    code < 0x80 ? code : code < 0x800 ? 0xc0 | (code >> 6) : code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0
  if (byte === 0x27) return "'\\''"
  if (byte === 0x22) return `'"'`
  return `'${quote(String.fromCharCode(byte)).slice(1, -1)}'`
}
