import { type Library, type Overload, overload } from '../functions.ts'
import { codePoints } from '../text.ts'
import { fault, ListValue, type Value } from '../values.ts'
import { formatString } from './string-format.ts'
import { formatLegacy } from './string-format-legacy.ts'

function charAt(text: string, at: number): string {
  const points = codePoints(text)
  if (at < 0 || at > points.length) fault(`index out of range: ${at}`)
  return points[at] ?? ''
}

/** An offset beyond the end is no error, and nothing is found there; an empty part is found at any offset. */
function indexOf(text: string, part: string, from = 0): number {
  if (part === '') return from
  if (from < 0) fault(`index out of range: ${from}`)
  const points = codePoints(text)
  const wanted = codePoints(part)
  for (let i = from; i <= points.length - wanted.length; i++)
    if (wanted.every((c, j) => points[i + j] === c)) return i
  return -1
}

function lastIndexOf(text: string, part: string, from?: number): number {
  const points = codePoints(text)
  if (part === '') return from ?? points.length
  if (from !== undefined && from < 0) fault(`index out of range: ${from}`)
  if (from !== undefined && from >= points.length) return -1
  const wanted = codePoints(part)
  for (let i = Math.min(from ?? points.length, points.length - wanted.length); i >= 0; i--) {
    if (wanted.every((c, j) => points[i + j] === c)) return i
  }
  return -1
}

function replace(text: string, from: string, to: string, limit = -1): string {
  if (limit < 0) return text.replaceAll(from, () => to)
  if (limit === 0) return text
  const parts = from === '' ? ['', ...codePoints(text), ''] : text.split(from)
  if (parts.length <= limit) return parts.join(to)
  const head = parts.slice(0, limit + 1)
  const glue = from === '' ? '' : from
  return [...head.slice(0, -1), parts.slice(limit).join(glue)].join(to)
}

function split(text: string, separator: string, limit = -1): Value {
  if (limit === 0) return new ListValue([])
  const parts = separator === '' ? codePoints(text) : text.split(separator)
  if (limit < 0 || parts.length <= limit) return new ListValue(parts)
  return new ListValue([...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)])
}

function substring(text: string, start: number, end?: number): string {
  const points = codePoints(text)
  if (start < 0 || start > points.length) fault(`index out of range: ${start}`)
  if (end === undefined) return points.slice(start).join('')
  if (end < 0 || end > points.length) fault(`index out of range: ${end}`)
  if (start > end) fault(`invalid substring range. start: ${start}, end: ${end}`)
  return points.slice(start, end).join('')
}

/** Unicode's White_Space property, which JavaScript's trim does not match exactly. */
const space = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const edges: RegExp = new RegExp(`^${space}+|${space}+$`, 'gu')

function join(list: ListValue, separator = ''): string {
  const parts = list.toArray()
  if (parts.some(p => typeof p !== 'string')) fault('no such overload')
  return parts.join(separator)
}

const quoted: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

function quote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
  return `"${text.toWellFormed().replace(/[\x07\b\f\n\r\t\v\\"]/g, c => quoted[c] ?? c)}"`
}

const functions: readonly Overload[] = [
  overload('string_char_at_int', 'charAt(this string, int): string', charAt),
  overload('string_index_of_string', 'indexOf(this string, string): int', indexOf),
  overload('string_index_of_string_int', 'indexOf(this string, string, int): int', indexOf),
  overload('string_last_index_of_string', 'lastIndexOf(this string, string): int', lastIndexOf),
  overload('string_last_index_of_string_int', 'lastIndexOf(this string, string, int): int', lastIndexOf),
  overload('string_lower_ascii', 'lowerAscii(this string): string', (s: string) =>
    s.replace(/[A-Z]+/g, m => m.toLowerCase()),
  ),
  overload('string_upper_ascii', 'upperAscii(this string): string', (s: string) =>
    s.replace(/[a-z]+/g, m => m.toUpperCase()),
  ),
  overload('string_replace_string_string', 'replace(this string, string, string): string', replace),
  overload('string_replace_string_string_int', 'replace(this string, string, string, int): string', replace),
  overload('string_split_string', 'split(this string, string): list<string>', split),
  overload('string_split_string_int', 'split(this string, string, int): list<string>', split),
  overload('string_substring_int', 'substring(this string, int): string', substring),
  overload('string_substring_int_int', 'substring(this string, int, int): string', substring),
  overload('string_trim', 'trim(this string): string', (s: string) => s.replace(edges, '')),
  overload('list_join', 'join(this list<string>): string', join),
  overload('list_join_string', 'join(this list<string>, string): string', join),
  overload('strings_quote', 'strings.quote(string): string', quote),
]

/** cel-go's strings extension, version 2: what Kubernetes offers. */
export const stringsLibrary: Library = {
  name: 'strings',
  overloads: [
    ...functions,
    overload('string_format', 'format(this string, list<dyn>): string', formatLegacy),
  ],
}

/** The current version, whose `format` the conformance suite tests. */
export const currentStringsLibrary: Library = {
  name: 'strings',
  overloads: [
    ...functions,
    overload('string_format', 'format(this string, list<dyn>): string', formatString),
  ],
}
