import { Path } from '../field/path.ts'
import type { Schema } from './schema.ts'

/** Where a field path of a CustomResourceDefinition leads: `path` as errors print it, and the schema there. */
export interface FieldPathTarget {
  readonly steps: readonly string[]
  readonly path: Path
  readonly schema: Schema
}

/** Delimiters, strings in single quotes (to the end if they are not closed), and what stands between. */
const tokenPattern = /[.[\]]|'(?:'|[^']*?(?:[^\\]'|$))|[^.[\]]+/gs

/**
 * Follows `.name` and `['name']` through properties and maps. Answers with the reason in upstream's words where the
 * path is malformed or the schema does not know it. Items of lists have no path.
 */
export function followFieldPath(
  fieldPath: string,
  root: Schema,
  { brackets = true }: { readonly brackets?: boolean } = {},
): FieldPathTarget | string {
  const tokens = fieldPath.match(tokenPattern) ?? []
  const steps: string[] = []
  let path = Path.root
  let schema = root
  for (let i = 0; i < tokens.length; i++) {
    const bracket = tokens[i] === '['
    if (bracket && !brackets) return 'array notation is not allowed'
    if (!bracket && tokens[i] !== '.') return `expected [ or . but got: ${tokens[i]}`
    const token = tokens[++i]
    if (token === undefined) return 'unexpected end of JSON path'
    const name = bracket ? unquote(token) : token
    if (typeof name !== 'string') return name.problem
    const { properties, additionalProperties } = schema
    if (properties !== undefined && Object.keys(properties).length > 0) {
      if (!Object.hasOwn(properties, name)) return unknownField
      path = path.child(name)
      schema = properties[name] as Schema
    } else if (typeof additionalProperties === 'object') {
      path = path.key(name)
      schema = additionalProperties
    } else return unknownField
    steps.push(name)
    if (!bracket) continue
    const close = tokens[++i]
    if (close === undefined) return 'unexpected end of JSON path'
    if (close !== ']') return `expected ] but got ${close}`
  }
  return { steps, path, schema }
}

const unknownField = 'does not refer to a valid field'

const escapes: Readonly<Record<string, string>> = {
  __proto__: null as never,
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
}

function unquote(token: string): string | { readonly problem: string } {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'"))
    return { problem: `expected single quoted string but got ${token}` }
  let problem: string | undefined
  const text = token.slice(1, -1).replace(/\\./gs, found => {
    const meant = escapes[found[1] as string]
    if (meant === undefined) problem = `invalid string literal: invalid escape char ${found}`
    return meant ?? ''
  })
  return problem === undefined ? text : { problem }
}
