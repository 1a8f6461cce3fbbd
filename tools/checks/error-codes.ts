/**
 * A package's error codes are the unions `type XErrorCode = 'A' | 'B'` of its `src/errors.ts`. Each is documented in
 * its README under the heading "Error codes", in backticks, and nothing else is.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Check, Finding } from './finding.ts'
import { isTest, lineAt, readSources, type SourceFile } from './source.ts'
import { readPackages } from './workspace.ts'

export const errorCodes: Check = {
  name: 'error-codes',
  async run(root) {
    const findings: Finding[] = []
    for (const { folder } of await readPackages(root)) findings.push(...(await checkPackage(root, folder)))
    return findings
  },
}

async function checkPackage(root: string, folder: string): Promise<Finding[]> {
  const findings: Finding[] = []
  const codes = new Map<string, { file: string; line: number }>()
  for (const source of await readSources(root, [`packages/${folder}/src/**/*.ts`])) {
    if (isTest(source.path)) continue
    for (const { code, line } of findCodes(source)) {
      codes.set(code, { file: source.path, line })
      if (source.path !== `packages/${folder}/src/errors.ts`) {
        findings.push({ file: source.path, line, message: `error code ${code} belongs into src/errors.ts` })
      }
    }
  }
  const readme = `packages/${folder}/README.md`
  const text = existsSync(join(root, readme)) ? await readFile(join(root, readme), 'utf8') : ''
  const documented = documentedCodes(text)
  for (const [code, where] of codes) {
    if (!documented.has(code)) {
      findings.push({ ...where, message: `error code ${code} is not in ${readme} under "Error codes"` })
    }
  }
  for (const code of documented) {
    if (!codes.has(code))
      findings.push({ file: readme, message: `documents error code ${code}, which does not exist` })
  }
  return findings
}

function* findCodes({ code, text }: SourceFile): Generator<{ code: string; line: number }> {
  for (const union of code.matchAll(/\btype\s+\w*ErrorCode\s*=((?:\s*\|?\s*'[^']*')+)/g)) {
    const start = union.index + union[0].length - union[1]!.length
    for (const literal of union[1]!.matchAll(/'([^']*)'/g)) {
      const at = start + literal.index
      yield { code: text.slice(at + 1, at + literal[0].length - 1), line: lineAt(text, at) }
    }
  }
}

/** What stands in backticks at the beginning of a table row or list item of the section. */
function documentedCodes(readme: string): Set<string> {
  const section = /^#+ Error codes\s*$([\s\S]*?)(?=^#+ |(?![\s\S]))/im.exec(readme)?.[1] ?? ''
  const heads = [...section.matchAll(/^\s*[|*-]\s*((?:`\w+`[,\s]*)+)/gm)].map(match => match[1]!)
  return new Set(heads.flatMap(head => [...head.matchAll(/`(\w+)`/g)].map(match => match[1]!)))
}
