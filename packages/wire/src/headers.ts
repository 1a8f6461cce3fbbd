import type { WireHeaders } from './message.ts'

/** The first value of a header, by its lower-case name. */
export function getHeader(headers: WireHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'object' ? value[0] : value
}

/** Every value of a header as sent: none, one, or several. */
export function getHeaderValues(headers: WireHeaders, name: string): readonly string[] {
  const value = headers[name]
  if (value === undefined) return []
  return typeof value === 'object' ? value : [value]
}

/** A media type and its parameters, both in lower case (parameter values unchanged). */
export interface MediaType {
  /** `application/json`; empty when it cannot be parsed. */
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
}

/** Parses `application/json;charset=utf-8`. */
export function parseMediaType(value: string): MediaType {
  const [first = '', ...rest] = splitOutsideQuotes(value, ';')
  const type = first.trim().toLowerCase()
  if (!/^[^\s/;,]+\/[^\s/;,]+$/.test(type)) return { type: '', parameters: {} }
  const parameters: Record<string, string> = Object.create(null)
  for (const part of rest) {
    const at = part.indexOf('=')
    if (at < 1) continue
    parameters[part.slice(0, at).trim().toLowerCase()] = unquote(part.slice(at + 1).trim())
  }
  return { type, parameters }
}

/** Splits a header's list of values at commas outside quotes. */
export function splitHeaderList(value: string): string[] {
  return splitOutsideQuotes(value, ',')
    .map(part => part.trim())
    .filter(part => part !== '')
}

function unquote(value: string): string {
  if (value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) return value
  return value.slice(1, -1).replace(/\\(.)/g, '$1')
}

function splitOutsideQuotes(value: string, separator: string): string[] {
  if (!value.includes('"')) return value.split(separator)
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let i = 0; i < value.length; i++) {
    const c = value[i]
    if (quoted && c === '\\') i++
    else if (c === '"') quoted = !quoted
    else if (c === separator && !quoted) {
      parts.push(value.slice(start, i))
      start = i + 1
    }
  }
  parts.push(value.slice(start))
  return parts
}
