/** Time, chance, order and output come from `kit`: this is what makes two runs from one seed identical. */
import type { Check, Finding } from './finding.ts'
import { isTest, lineAt, readSources, type SourceFile } from './source.ts'

const banned: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  {
    pattern: /\b(?:setTimeout|setInterval|setImmediate|clearTimeout|clearInterval|clearImmediate)\b/g,
    instead: "kit's clock",
  },
  { pattern: /\b(?:queueMicrotask|process\s*\.\s*nextTick)\b/g, instead: "promises and kit's scheduler" },
  { pattern: /\bprocess\s*\.\s*hrtime\b|\bperformance\s*\.\s*\w+/g, instead: 'clock.monotonic()' },
  {
    pattern: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)|\bnew\s+Date\b(?!\s*[.(<])|(?<!new\s+)\bDate\s*\(/g,
    instead: 'clock.now()',
  },
  { pattern: /\bAbortSignal\s*\.\s*timeout\b/g, instead: "kit's clock and an AbortController" },
  { pattern: /\bMath\s*\.\s*random\b/g, instead: "kit's random" },
  { pattern: /\bcrypto\s*\.\s*\w+/g, instead: "kit's random, or a port whose adapter is in src/node/" },
  { pattern: /\bfetch\s*\(/g, instead: "wire's Handler" },
  { pattern: /\bconsole\s*\.\s*\w+/g, instead: "kit's logger" },
  { pattern: /\bimport\s*\(/g, instead: 'a static import: the core never awaits a lazy one' },
]

/** `kit` hands them out, `cli` is where output happens, `src/node/` holds the adapters of the machine. */
const exempt = /^packages\/(?:kit|cli)\/|\/src\/node\/|^packages\/[^/]+\/bin\//

export const bannedGlobals: Check = {
  name: 'banned-globals',
  async run(root) {
    const sources = await readSources(root, ['packages/*/src/**/*.ts'])
    return sources.filter(({ path }) => !isTest(path) && !exempt.test(path)).flatMap(findBanned)
  },
}

function findBanned({ path, text, code }: SourceFile): Finding[] {
  return banned
    .flatMap(({ pattern, instead }) =>
      [...code.matchAll(pattern)]
        .filter(match => isGlobal(code, match.index))
        .map(match => ({
          file: path,
          line: lineAt(text, match.index),
          message: `${match[0].replace(/\s*\($/, '')} is banned here: use ${instead}`,
        })),
    )
    .sort((a, b) => a.line - b.line)
}

/** Not a member of something else (`clock.fetch`), unless that is the global object, and not a key or a method's name. */
function isGlobal(code: string, index: number): boolean {
  const before = code.slice(Math.max(0, index - 24), index).trimEnd()
  if (/\bglobalThis\s*\??\.$/.test(before)) return true
  return !/(?:\.|#|\bfunction|\basync)$/.test(before)
}
