import { RE2JS } from 're2js'

/** A regular expression of RE2: linear time, no look-around, no back-references. */
export interface Pattern {
  /** True when the text contains a match. */
  test(text: string): boolean
}

/** Patterns that do not compile are kept too, as the text of the error. */
const cache = new Map<string, Pattern | string>()
const cacheLimit = 2_000

/** Compiles on first use and keeps the result. Returns the reason when the pattern is not one of RE2's. */
export function compilePattern(source: string): Pattern | string {
  const known = cache.get(source)
  if (known !== undefined) return known
  if (cache.size >= cacheLimit) cache.clear()
  const result = compile(source)
  cache.set(source, result)
  return result
}

function compile(source: string): Pattern | string {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
