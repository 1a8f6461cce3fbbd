/** Whatever a package exports has a comment where it is declared: the reader of an index has nothing else. */
import { readExports } from './exports.ts'
import type { Check, Finding } from './finding.ts'
import { lineAt } from './source.ts'

export const documentedExports: Check = {
  name: 'documented-exports',
  async run(root) {
    const findings = new Map<string, Finding>()
    for (const { exports } of await readExports(root)) {
      for (const { declaration } of exports) {
        if (!declaration || declaration.comment !== undefined) continue
        const { path: file, text } = declaration.source
        const message = `${declaration.name} is exported and has no comment`
        findings.set(`${file} ${message}`, { file, line: lineAt(text, declaration.index), message })
      }
    }
    return [...findings.values()]
  },
}
