import { buildFailed } from '../errors.ts'
import type { JsonObject, JsonValue } from './decode.ts'
import { printNumber } from './number.ts'
import { needsQuotesInOutput } from './resolve.ts'
import {
  analyzeScalar,
  type ScalarPlace,
  writeDoubleQuoted,
  writeLiteral,
  writePlain,
  writeSingleQuoted,
} from './scalar-text.ts'

/** Past this column a line is broken at its next space. */
const width = 80
/** A longer key is written with `?`. */
const longestSimpleKey = 128

/** A document as `kustomize build` prints it: keys in their natural order, long lines folded. */
export function writeOutput(object: JsonObject): string {
  const lines = new OutputWriter()
  lines.mapping(object, 0)
  return lines.text
}

class OutputWriter {
  text = ''

  mapping(object: JsonObject, indent: number, firstColumn = 0): void {
    const keys = Object.keys(object)
    if (keys.length === 0) {
      this.text += '{}\n'
      return
    }
    keys.sort(compareKeys)
    let margin = ' '.repeat(indent - firstColumn)
    for (const key of keys) {
      this.text += margin
      margin = ' '.repeat(indent)
      this.#entry(key, object[key]!, indent)
    }
  }

  #entry(key: string, value: JsonValue, indent: number): void {
    const analysis = analyzeScalar(key)
    if (analysis.multiline || byteLength(key) > longestSimpleKey) {
      this.text += `? ${writeString(key, { column: indent + 2, indent: indent + 2, width })}\n${' '.repeat(indent)}: `
      this.#value(value, { indent, column: indent + 2, after: '' })
      return
    }
    const name = writeString(key, { column: indent, indent, width: Infinity })
    this.text += `${name}:`
    this.#value(value, { indent, column: indent + name.length + 2, after: ' ' })
  }

  /** `after` is what stands between the key or dash and a value on the same line. */
  #value(
    value: JsonValue,
    { indent, column, after }: { indent: number; column: number; after: string },
  ): void {
    if (Array.isArray(value)) {
      if (value.length === 0) this.text += `${after}[]\n`
      else if (after === '') this.sequence(value, indent + 2, indent + 2)
      else {
        this.text += '\n'
        this.sequence(value, indent, 0)
      }
    } else if (typeof value === 'object' && value !== null) {
      if (Object.keys(value).length === 0) this.text += `${after}{}\n`
      else if (after === '') this.mapping(value, indent + 2, indent + 2)
      else {
        this.text += '\n'
        this.mapping(value, indent + 2)
      }
    } else this.text += `${after}${writeScalar(value, { column, indent: indent + 2, width })}\n`
  }

  sequence(items: readonly JsonValue[], indent: number, firstColumn: number): void {
    let margin = ' '.repeat(indent - firstColumn)
    for (const item of items) {
      this.text += `${margin}- `
      margin = ' '.repeat(indent)
      const inner = indent + 2
      if (Array.isArray(item) && item.length > 0) this.sequence(item, inner, inner)
      else if (typeof item === 'object' && item !== null && !Array.isArray(item))
        this.mapping(item, inner, inner)
      else if (Array.isArray(item)) this.text += '[]\n'
      else this.text += `${writeScalar(item, { column: inner, indent: inner, width })}\n`
    }
  }
}

function writeScalar(value: Exclude<JsonValue, JsonValue[] | JsonObject>, place: ScalarPlace): string {
  if (typeof value === 'string') return writeString(value, place)
  return value === null || typeof value === 'boolean' ? String(value) : printNumber(value)
}

/** What the reader of YAML between JSON and the output does not accept. */
const controls = /[\u007f-\u0084\u0086-\u009f\ufffe\uffff]/

function writeString(value: string, place: ScalarPlace): string {
  if (controls.test(value)) throw buildFailed('yaml: control characters are not allowed')
  const analysis = analyzeScalar(value)
  const inKey = place.width === Infinity
  if (value.includes('\n')) {
    if (analysis.block && !inKey) return writeLiteral(value, place.indent)
    return writeDoubleQuoted(value, place)
  }
  if (needsQuotesInOutput(value)) return writeDoubleQuoted(value, place)
  if (analysis.blockPlain && !(value === '' && inKey)) return writePlain(value, place)
  return analysis.single ? writeSingleQuoted(value, place) : writeDoubleQuoted(value, place)
}

const byteLength = (text: string): number => {
  let length = 0
  for (const char of text) {
    const code = char.codePointAt(0)!
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return length
}

const letter = /^\p{L}$/u
const digit = /^\p{Nd}$/u
const lowerOnly = /^[a-z]+$/i

/** The natural order of keys: numbers in them count as numbers, letters come after other characters. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0
  if (lowerOnly.test(a) && lowerOnly.test(b)) return a < b ? -1 : 1
  const left = [...a]
  const right = [...b]
  for (let i = 0; i < left.length && i < right.length; i++) {
    if (left[i] === right[i]) continue
    return compareAt(left, right, i)
  }
  return left.length - right.length
}

function compareAt(left: readonly string[], right: readonly string[], i: number): number {
  const a = left[i]!
  const b = right[i]!
  const isLetterA = letter.test(a)
  const isLetterB = letter.test(b)
  if (isLetterA && isLetterB) return a.codePointAt(0)! - b.codePointAt(0)!
  if (isLetterA || isLetterB) return isLetterB ? -1 : 1
  let startA = 0n
  let startB = 0n
  if (a === '0' || b === '0') {
    for (let j = i - 1; j >= 0 && digit.test(left[j]!); j--) {
      if (left[j] !== '0') {
        startA = startB = 1n
        break
      }
    }
  }
  const [numberA, endA] = readDigits(left, i, startA)
  const [numberB, endB] = readDigits(right, i, startB)
  if (numberA !== numberB) return numberA < numberB ? -1 : 1
  if (endA !== endB) return endA - endB
  return a.codePointAt(0)! - b.codePointAt(0)!
}

/** Numbers wrap around as 64-bit integers do. */
function readDigits(chars: readonly string[], from: number, start: bigint): [bigint, number] {
  let value = start
  let at = from
  for (; at < chars.length && digit.test(chars[at]!); at++)
    value = BigInt.asIntN(64, value * 10n + BigInt(chars[at]!.codePointAt(0)! - 0x30))
  return [value, at]
}
