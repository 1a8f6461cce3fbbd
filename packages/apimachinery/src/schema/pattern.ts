import { BoundedMap } from '@coxswain/kit'
import { RE2JS } from 're2js'

/** A regular expression of RE2: linear time, no look-around, no back-references. */
export interface Pattern {
  /** True when the text contains a match. */
  test(text: string): boolean
}

/** Patterns that do not compile are kept too, as the text of the error. */
const compiled = new Map<string, Pattern | string>()
/** Instructions of all that are kept: one takes about 700 bytes. */
let weight = 0
const weightLimit = 40_000

/** Results for patterns that were checked but not yet matched: null for valid ones. */
const verdicts = new BoundedMap<string, string | null>(5_000)
const longestRemembered = 1_024

/** In UTF-16 units. An instruction takes about 700 bytes, and there is one for each character at least. */
const longestPattern = 64 * 1024

/** Compiles on first use and caches the result. Returns the reason when the pattern is not valid RE2. */
export function compilePattern(source: string): Pattern | string {
  const known = compiled.get(source)
  if (known !== undefined) return known
  const result = compile(source)
  weight += typeof result === 'string' ? 1 + (source.length >> 8) : result.programSize()
  if (weight > weightLimit) {
    compiled.clear()
    weight = 0
  }
  compiled.set(source, result)
  return result
}

/** Why a pattern is not valid RE2. Caches only the result: a CRD may have thousands of patterns. */
export function checkPattern(source: string): string | undefined {
  let verdict = verdicts.get(source)
  if (verdict === undefined) {
    const known = compiled.get(source) ?? compile(source)
    verdict = typeof known === 'string' ? known : null
    if (source.length <= longestRemembered) verdicts.set(source, verdict)
  }
  return verdict ?? undefined
}

function compile(source: string): RE2JS | string {
  if (source.length > longestPattern) return tooLarge(source)
  try {
    return RE2JS.compile(source)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Go's error for an expression that takes too much memory. */
function tooLarge(source: string): string {
  return `error parsing regexp: expression too large: \`${source.slice(0, 1_000)}...\``
}
