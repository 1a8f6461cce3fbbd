/** No test is switched off, and none switches the others off. */
import type { Check } from './finding.ts'
import { lineAt, readSources } from './source.ts'

const focused =
  /\b(?:it|test|describe|suite)\s*\.\s*(only|skip|todo)\b|\b(?:t|context)\s*\.\s*(skip|todo)\s*\(|\b(only|skip|todo)\s*:\s*(?!false\b)(?=[^\n]*\}\s*,\s*(?:async\s*)?(?:\(|function\b|\w+\s*=>))/g

export const focusedTests: Check = {
  name: 'focused-tests',
  async run(root) {
    const sources = await readSources(root, ['{packages,tools,bench,examples,interop}/**/*.{test,suite}.ts'])
    return sources.flatMap(({ path, text, code }) =>
      [...code.matchAll(focused)].map(match => ({
        file: path,
        line: lineAt(text, match.index),
        message: `.${match[1] ?? match[2] ?? match[3]} in a test: a suite whose component is missing fails, it never skips`,
      })),
    )
  },
}
