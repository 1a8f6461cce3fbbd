import { BoundedMap } from '@coxswain/kit'
import { RE2JS } from 're2js'
import { fault } from './values.ts'

const remembered = 250
/** A pattern may be data: longer ones are compiled each time. */
const longestRemembered = 1_024
const cache = new BoundedMap<string, RE2JS>(remembered)

/** In UTF-16 units: the program of a pattern takes several hundred times its length. */
const longestPattern = 64 * 1024

/** Compiles an RE2 pattern, remembering the most recent ones. Throws a fault with Go's wording. */
export function compileRegex(pattern: string): RE2JS {
  const known = cache.get(pattern)
  if (known !== undefined) return known
  if (pattern.length > longestPattern)
    return fault(`error parsing regexp: expression too large: \`${pattern.slice(0, 1_000)}...\``)
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(pattern)
  } catch (error) {
    return fault(regexProblem(error))
  }
  if (pattern.length > longestRemembered) return compiled
  cache.set(pattern, compiled)
  return compiled
}

export function regexProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.startsWith('error parsing regexp') ? message : `error parsing regexp: ${message}`
}

export function matches(text: string, pattern: string): boolean {
  return compileRegex(pattern).test(text)
}

export function findFirst(text: string, pattern: string): string {
  const matcher = compileRegex(pattern).matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

export function findAll(text: string, pattern: string, limit: number): string[] {
  const matcher = compileRegex(pattern).matcher(text)
  const found: string[] = []
  while (found.length < limit && matcher.find()) found.push(matcher.group() ?? '')
  return found
}
