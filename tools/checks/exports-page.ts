/** `docs/exports.md` lists what the packages that authors import export, with the first sentence of each comment. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type EntryPointExports, readExports } from './exports.ts'
import type { Check } from './finding.ts'

const page = 'docs/exports.md'
const command = 'npm run check -- exports-page --write'

/** What authors of operators and tests import, in the order of the page. */
const packages = [
  'coxswain',
  ...['runtime', 'client', 'informers', 'workqueue', 'testing', 'simulator', 'wire', 'kit'].map(
    name => `@coxswain/${name}`,
  ),
]

export const exportsPage: Check = {
  name: 'exports-page',
  async run(root) {
    const written = await readFile(join(root, page), 'utf8').catch(() => '')
    if (written === (await renderPage(root))) return []
    return [{ file: page, line: 1, message: `is not what the packages export; write it with \`${command}\`` }]
  },
}

export async function writeExportsPage(root: string): Promise<void> {
  await writeFile(join(root, page), await renderPage(root))
}

async function renderPage(root: string): Promise<string> {
  const entries = await readExports(root)
  const sections = packages.flatMap(name =>
    entries
      .filter(({ specifier }) => specifier === name || specifier.startsWith(`${name}/`))
      .map(renderEntry),
  )
  return `# What the packages export\n\nFunctions, classes and constants; types are in the declarations. Written by \`${command}\` from the comments in the sources.\n${sections.join('')}`
}

function renderEntry({ specifier, exports }: EntryPointExports): string {
  const rows = exports
    .filter(({ declaration }) => declaration && !declaration.isType)
    .map(({ name, declaration }) => `| \`${name}\` | ${firstSentence(declaration!.comment ?? '')} |\n`)
  return rows.length === 0
    ? ''
    : `\n## \`${specifier}\`\n\n| name | what it is |\n| --- | --- |\n${rows.join('')}`
}

function firstSentence(comment: string): string {
  const [paragraph = ''] = comment.split(/\n\s*(?:\n|@|-)/)
  const text = paragraph
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\{@link ([^}]*)\}/g, '`$1`')
    .trim()
  const sentence = /^.*?(?<!\b(?:e\.g|i\.e|etc))\.(?= [A-Z`]|$)/.exec(text)?.[0] ?? text
  return sentence.replaceAll('|', '\\|')
}
