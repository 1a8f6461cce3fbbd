/**
 * A spread argument goes through the stack: `list.push(...items)` throws a RangeError from about 120,000 items on, and
 * most lists here are as long as a client wants. A loop has no such limit.
 */
import type { Check, Finding } from './finding.ts'
import { isTest, lineAt, readSources, type SourceFile } from './source.ts'

const callee =
  /\.\s*(?:push|unshift|splice|concat)\s*\(|\bMath\s*\.\s*(?:max|min|hypot)\s*(?:\.\s*apply\s*)?\(|\bString\s*\.\s*(?:fromCharCode|fromCodePoint)\s*(?:\.\s*apply\s*)?\(/g

export const spreadCalls: Check = {
  name: 'spread-calls',
  async run(root) {
    const sources = await readSources(root, ['packages/*/src/**/*.ts'])
    return sources.filter(({ path }) => !isTest(path)).flatMap(findSpreads)
  },
}

function findSpreads({ path, text, code }: SourceFile): Finding[] {
  return [...code.matchAll(callee)]
    .filter(match => match[0].includes('apply') || hasSpread(code, match.index + match[0].length))
    .map(match => ({
      file: path,
      line: lineAt(text, match.index),
      message: `a list as arguments of ${match[0].replace(/[\s.(]+/g, ' ').trim()}: use a loop, or maxOf and minOf of kit`,
    }))
}

/** Whether one of the arguments that begin at `start` is a spread list, other than an array literal of few items. */
function hasSpread(code: string, start: number): boolean {
  let depth = 0
  for (let at = start; at < code.length; at++) {
    const char = code[at]!
    if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char) && depth-- === 0) return false
    else if (
      depth === 0 &&
      code.startsWith('...', at) &&
      !/^\.\.\.\s*\[[^[\].]*\]\s*[,)]/.test(code.slice(at))
    )
      return true
  }
  return false
}
