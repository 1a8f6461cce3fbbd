/**
 * Commands shown in the README run. A block ```` ```sh test ```` is run as it stands by `npm run test:readme`; here every
 * shell block has to say which it is (`test`, or `no-test` with a reason), and every npm script and file it names
 * has to exist.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Check, Finding } from './finding.ts'
import { findFences, readMarkdown } from './markdown.ts'
import { findFiles } from './source.ts'
import { readManifest } from './workspace.ts'

const documents = ['README.md', 'CONTRIBUTING.md', 'bench/README.md']

export const readmeCommands: Check = {
  name: 'readme-commands',
  async run(root) {
    const { scripts = {} } = (await readManifest(root)) as { scripts?: Record<string, string> }
    const findings: Finding[] = []
    for (const file of await findFiles(root, documents)) {
      for (const { info, body, line } of findFences(await readMarkdown(root, file))) {
        const [language, mark, ...reason] = info.split(' ')
        if (language !== 'sh') continue
        const say = (message: string) => findings.push({ file, line, message })
        if (mark !== 'test' && mark !== 'no-test') say('a sh block is marked `test` or `no-test REASON`')
        if (mark === 'no-test' && reason.length === 0) say('a `no-test` block gives a reason')
        for (const script of scriptsIn(body)) if (!scripts[script]) say(`there is no npm script ${script}`)
        for (const path of filesIn(body)) if (!existsSync(join(root, path))) say(`there is no file ${path}`)
      }
    }
    return findings
  },
}

function scriptsIn(body: string): string[] {
  return [...body.matchAll(/\bnpm (?:run ([\w:.-]+)|(test|start)\b)/g)].map(match => (match[1] ?? match[2])!)
}

/** Paths below the folders of this repository. */
function filesIn(body: string): string[] {
  return [...body.matchAll(/(?<![\w/.-])((?:examples|packages|tools|bench|docs)\/[\w./-]*\w)/g)].map(
    match => match[1]!,
  )
}
