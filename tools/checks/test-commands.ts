/** A test that no command runs proves nothing: each belongs to `npm test` or to a suite, and each suite has a test. */
import { readFile } from 'node:fs/promises'
import { join, matchesGlob } from 'node:path'
import { suites } from '../suites.ts'
import { testFiles } from '../test/test-files.ts'
import type { Check, Finding } from './finding.ts'
import { findFiles } from './source.ts'

export const testCommands: Check = {
  name: 'test-commands',
  async run(root) {
    const manifest = await readFile(join(root, 'package.json'), 'utf8')
    const { scripts = {} } = JSON.parse(manifest) as { scripts?: Record<string, string> }
    const tests = await findFiles(root, ['**/*.test.{ts,mts,cts,js,mjs,cjs}'])
    const scriptSuites = Object.keys(scripts).flatMap(
      script => /\bsuite\.ts ([a-z]\S*)/.exec(scripts[script]!)?.[1] ?? [],
    )
    const findings: Finding[] = []
    for (const file of tests) {
      if (testFiles.some(pattern => matchesGlob(file, pattern))) continue
      const suite = suites.find(({ name }) => matchesGlob(file, `interop/${name}/**/*.test.ts`))
      if (!suite)
        findings.push({
          file,
          message: 'no command runs this test: see tools/test/test-files.ts and tools/suites.ts',
        })
      else if (!scriptSuites.includes(suite.name)) {
        findings.push({ file, message: `no npm script test:${suite.name} runs this suite` })
      }
    }
    for (const name of scriptSuites) {
      if (!suites.some(suite => suite.name === name)) {
        findings.push({
          file: 'package.json',
          message: `test:${name} runs a suite that tools/suites.ts does not have`,
        })
      } else if (!tests.some(file => file.startsWith(`interop/${name}/`))) {
        findings.push({
          file: 'package.json',
          message: `test:${name} runs a suite without a test in interop/${name}`,
        })
      }
    }
    return findings
  },
}
