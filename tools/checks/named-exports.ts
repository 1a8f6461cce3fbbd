/** A package's public list is written by hand: `export *` leaks what was never meant to be published. */
import type { Check } from './finding.ts'
import { lineAt, readSources } from './source.ts'

export const namedExports: Check = {
  name: 'named-exports',
  async run(root) {
    const sources = await readSources(root, ['packages/*/src/**/*.ts'])
    return sources.flatMap(({ path, text, code }) =>
      [...code.matchAll(/\bexport\s*\*(?!\s*as\b)/g)].map(match => ({
        file: path,
        line: lineAt(text, match.index),
        message: 'export * is banned: name each export',
      })),
    )
  },
}
