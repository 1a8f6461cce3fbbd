/** Links in Markdown resolve: files and folders exist, and so do the headings they point at and the paths they name. */
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Check, Finding } from './finding.ts'
import { findAnchors, findLinks, findPaths, readMarkdown } from './markdown.ts'
import { findFiles } from './source.ts'

export const markdownLinks: Check = {
  name: 'markdown-links',
  async run(root) {
    const findings: Finding[] = []
    for (const file of await findFiles(root, ['**/*.md'])) {
      const text = await readMarkdown(root, file)
      for (const { target, line } of findLinks(text)) {
        const problem = await checkLink(root, file, target)
        if (problem) findings.push({ file, line, message: problem })
      }
      for (const { target, line } of findPaths(text)) {
        if (!existsSync(join(root, target))) findings.push({ file, line, message: `there is no ${target}` })
      }
    }
    return findings
  },
}

async function checkLink(root: string, file: string, target: string): Promise<string | undefined> {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return undefined // another site: not ours to check
  const [path = '', anchor] = target.split('#')
  if (path.startsWith('/')) return `${target} is not relative`
  const resolved = path === '' ? file : posix.join(posix.dirname(file), decodeURIComponent(path))
  if (resolved.startsWith('..')) return `${target} leaves the repository`
  if (!existsSync(join(root, resolved))) return `${target} does not exist`
  if (!anchor || !resolved.endsWith('.md')) return undefined
  const anchors = findAnchors(await readMarkdown(root, resolved))
  return anchors.has(anchor) ? undefined : `${resolved} has no heading #${anchor}`
}
