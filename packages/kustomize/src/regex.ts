import { BoundedMap } from '@coxswain/kit'
import { RE2JS } from 're2js'
import { buildFailed } from './errors.ts'

/** A regular expression of RE2: it takes linear time whatever the pattern. */
export interface Regex {
  /** Whether the text contains a match. */
  test(text: string): boolean
}

const compiled = new BoundedMap<string, Regex | string>(500)
/** An instruction takes about 700 bytes, and there is at least one for each character. */
const longestPattern = 4_096

/** Throws when the pattern is not valid. */
export function compileRegex(pattern: string): Regex {
  const regex = tryRegex(pattern)
  if (typeof regex === 'string') throw buildFailed(regex)
  return regex
}

/** The reason when the pattern is not valid. */
export function tryRegex(pattern: string): Regex | string {
  let regex = compiled.get(pattern)
  if (regex === undefined) {
    regex = compile(pattern)
    compiled.set(pattern, regex)
  }
  return regex
}

const plainText = /^[A-Za-z0-9_/-]*$/

function compile(pattern: string): Regex | string {
  if (pattern.length > longestPattern)
    return `error parsing regexp: expression too large: more than ${longestPattern} characters`
  if (plainText.test(pattern)) return { test: text => text.includes(pattern) }
  const whole = /^\^\(\?:([A-Za-z0-9_/-]*)\)\$$/.exec(pattern)
  if (whole !== null) return { test: text => text === whole[1] }
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
