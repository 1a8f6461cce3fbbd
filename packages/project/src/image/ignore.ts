/** Which files stay out of an image. */
export interface IgnoreRules {
  /** The last rule that matches decides; undefined when none does. */
  decide(path: string, kind: 'file' | 'folder'): 'ignored' | 'included' | undefined
  /** Whether a rule may include something below an ignored folder. */
  readonly hasExceptions: boolean
}

interface Rule {
  readonly parts: readonly string[]
  readonly isException: boolean
  readonly foldersOnly: boolean
}

/** How a pattern without a `/` is read: in .gitignore it matches at every depth, in .dockerignore at the top. */
export type IgnoreSyntax = 'git' | 'docker'

/** The most rules and the longest pattern that are read. */
const limits = { rules: 10_000, pattern: 4096 }

/** Reads a .gitignore or .dockerignore. Paths that are decided are relative to its folder. */
export function parseIgnore(text: string, syntax: IgnoreSyntax): IgnoreRules {
  const rules = text
    .split('\n')
    .slice(0, limits.rules)
    .map(line => line.replace(/\r$/, '').trimEnd().slice(0, limits.pattern))
    .filter(line => line.trim() !== '' && !line.startsWith('#'))
    .map(line => parseRule(line, syntax))
    .filter(rule => rule.parts.length > 0)
  return {
    hasExceptions: rules.some(rule => rule.isException),
    decide(path, kind) {
      const parts = path.split('/')
      for (const rule of rules.toReversed()) {
        if (rule.foldersOnly && kind !== 'folder') continue
        if (matchParts(rule.parts, parts)) return rule.isException ? 'included' : 'ignored'
      }
      return undefined
    },
  }
}

function parseRule(line: string, syntax: IgnoreSyntax): Rule {
  const isException = line.startsWith('!')
  const pattern = (isException ? line.slice(1) : line).replace(/^\\(?=[#!])/, '').trim()
  const parts = pattern.split('/').filter(part => part !== '' && part !== '.')
  const isAnchored = syntax === 'docker' || pattern.replace(/\/+$/, '').includes('/')
  return {
    parts: isAnchored || parts.length === 0 ? parts : ['**', ...parts],
    isException,
    foldersOnly: syntax === 'git' && pattern.endsWith('/'),
  }
}

/** Whether the pattern's parts match the path's. Keeps the set of positions in the pattern, so time is bounded by their product. */
function matchParts(pattern: readonly string[], path: readonly string[]): boolean {
  const skipStars = (from: Set<number>) => {
    for (const at of from) if (pattern[at] === '**') from.add(at + 1)
    return from
  }
  let at = skipStars(new Set([0]))
  for (const part of path) {
    const next = new Set<number>()
    for (const position of at) {
      const wanted = pattern[position]
      if (wanted === undefined) continue
      if (wanted === '**') next.add(position)
      else if (matchPart(wanted, part)) next.add(position + 1)
    }
    at = skipStars(next)
  }
  return at.has(pattern.length)
}

/** `*`, `?`, `[a-z]` and `\x` within one part of a path; greedy with one point to come back to, so time is bounded by the product. */
function matchPart(pattern: string, text: string): boolean {
  let inPattern = 0
  let inText = 0
  let star = -1
  let starText = 0
  while (inText < text.length) {
    const step = matchChar(pattern, inPattern, text[inText]!)
    if (pattern[inPattern] === '*') {
      star = inPattern
      inPattern += 1
      starText = inText
    } else if (step > 0) {
      inPattern += step
      inText += 1
    } else if (star >= 0) {
      inPattern = star + 1
      starText += 1
      inText = starText
    } else return false
  }
  while (pattern[inPattern] === '*') inPattern += 1
  return inPattern === pattern.length
}

/** How many characters of the pattern stand for `char`; 0 when it does not match. */
function matchChar(pattern: string, at: number, char: string): number {
  const first = pattern[at]
  if (first === undefined) return 0
  if (first === '?') return 1
  if (first === '\\' && at + 1 < pattern.length) return pattern[at + 1] === char ? 2 : 0
  if (first !== '[') return first === char ? 1 : 0
  const end = pattern.indexOf(']', at + 2)
  if (end < 0) return char === '[' ? 1 : 0
  const body = pattern.slice(at + 1, end)
  const isNegated = /^[!^]/.test(body)
  return inClass(isNegated ? body.slice(1) : body, char) !== isNegated ? end - at + 1 : 0
}

function inClass(body: string, char: string): boolean {
  for (let at = 0; at < body.length; at++) {
    if (body[at + 1] === '-' && at + 2 < body.length) {
      if (char >= body[at]! && char <= body[at + 2]!) return true
      at += 2
    } else if (body[at] === char) return true
  }
  return false
}
