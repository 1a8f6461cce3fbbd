import { percentDecode } from './percent.ts'

/**
 * Query parameters by Go's rules (`url.ParseQuery`): pieces with a `;` or a malformed escape are dropped and the rest
 * is kept, `+` is a space, and the first of a repeated parameter counts.
 */
export interface QueryParameters {
  /** The first value; undefined when the parameter is absent, `''` when it has no value. */
  get(name: string): string | undefined
  getAll(name: string): readonly string[]
  has(name: string): boolean
  /** In the order of first appearance. */
  names(): Iterable<string>
  /** Whether a piece was dropped. */
  readonly malformed: boolean
}

const none: readonly string[] = []
const empty: QueryParameters = {
  get: () => undefined,
  getAll: () => none,
  has: () => false,
  names: () => none,
  malformed: false,
}

/** Parses `WireRequest.query`. Never throws. */
export function parseQuery(query: string): QueryParameters {
  if (query === '') return empty
  const values = new Map<string, string[]>()
  let malformed = false
  for (const piece of query.split('&')) {
    if (piece === '') continue
    const at = piece.indexOf('=')
    const name = piece.includes(';') ? undefined : decode(at < 0 ? piece : piece.slice(0, at))
    const value = name === undefined ? undefined : decode(at < 0 ? '' : piece.slice(at + 1))
    if (name === undefined || value === undefined) {
      malformed = true
      continue
    }
    const held = values.get(name)
    if (held) held.push(value)
    else values.set(name, [value])
  }
  return {
    get: name => values.get(name)?.[0],
    getAll: name => values.get(name) ?? none,
    has: name => values.has(name),
    names: () => values.keys(),
    malformed,
  }
}

/** Formats parameters in the given order; undefined values are omitted. */
export function formatQuery(
  parameters: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>,
): string {
  let out = ''
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue
    for (const one of typeof value === 'object' ? value : [value]) {
      out += `${out === '' ? '' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(one)}`
    }
  }
  return out
}

function decode(text: string): string | undefined {
  return percentDecode(text.includes('+') ? text.replaceAll('+', ' ') : text)?.text
}
