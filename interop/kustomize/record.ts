/** Records what the real kustomize 5.8 answers to the cases of packages/kustomize/fixtures, in these files. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  caseFiles,
  fixturesFolder,
  readCases,
  rootOf,
} from '../../packages/kustomize/src/test-support/cases.ts'
import { ensureComponent } from '../../tools/components/index.ts'
import { buildWithReal, withFiles } from './real.ts'

const program = await ensureComponent('kustomize-5.8', line => console.error(line))
let total = 0
for (const file of caseFiles()) {
  const cases = readCases(file)
  const text = readFileSync(fixturesFolder + file, 'utf8')
  const parts = text.split(/^## /m)
  const recorded = parts.slice(1).map((part, at) => {
    const input = part.split(/^>> /m)[0]!
    const { output } = withFiles(cases[at]!.files, folder =>
      buildWithReal(program, join(folder, rootOf(cases[at]!))),
    )
    return `## ${input}>> ${output === undefined ? 'refused\n' : `output\n${output}`}`
  })
  writeFileSync(fixturesFolder + file, parts[0]! + recorded.join(''))
  total += recorded.length
}
console.log(`${total} cases recorded`)
