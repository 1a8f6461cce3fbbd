/** Most files are under 200 lines; past 400 ask what the second concept is; 600 is the end (tests 1,000). */
import type { Check, Finding } from './finding.ts'
import { isTest, readSources } from './source.ts'

export const fileSize: Check = {
  name: 'file-size',
  async run(root) {
    const findings: Finding[] = []
    for (const { path, text } of await readSources(root, ['{packages,tools,bench,examples}/**/*.ts'])) {
      const lines = text.split('\n').length - 1
      const end = isTest(path) ? 1_000 : 600
      const ask = isTest(path) ? 1_000 : 400
      if (lines > end) findings.push({ file: path, message: `has ${lines} lines, ${end} is the end` })
      else if (lines > ask) {
        findings.push({
          file: path,
          level: 'warning',
          message: `has ${lines} lines: what is the second concept?`,
        })
      }
    }
    return findings
  },
}
