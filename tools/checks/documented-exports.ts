/** Whatever a package exports has a comment where it is declared: the reader of an index has nothing else. */
import { posix } from 'node:path'
import type { Check, Finding } from './finding.ts'
import { lineAt, readSources, type SourceFile } from './source.ts'
import { entryPoints, readPackages } from './workspace.ts'

type Sources = ReadonlyMap<string, SourceFile>

interface ExportedName {
  readonly name: string
  /** Where it comes from; undefined when it is declared in the file. */
  readonly from?: { readonly module: string; readonly name: string }
}

export const documentedExports: Check = {
  name: 'documented-exports',
  async run(root) {
    const sources: Sources = new Map(
      (await readSources(root, ['packages/*/src/**/*.ts'])).map(source => [source.path, source]),
    )
    const findings = new Map<string, Finding>()
    for (const { folder, manifest } of await readPackages(root)) {
      for (const { entry, file } of await entryPoints(posix.join(root, 'packages', folder), manifest)) {
        const index = sources.get(posix.join('packages', folder, file))
        if (!index || entry.includes('test-support')) continue
        for (const { name } of exportsOf(index)) {
          const finding = findUndocumented(sources, index, name)
          if (finding) findings.set(`${finding.file} ${finding.message}`, finding)
        }
      }
    }
    return [...findings.values()]
  },
}

/** Follows a name to the file that declares it. Generated files and other packages are left out. */
function findUndocumented(sources: Sources, source: SourceFile, name: string): Finding | undefined {
  const { from } = exportsOf(source).find(exported => exported.name === name) ?? {}
  if (from) {
    const next = from.module.startsWith('.')
      ? sources.get(posix.join(posix.dirname(source.path), from.module))
      : undefined
    return next && findUndocumented(sources, next, from.name)
  }
  const { path: file, text, code } = source
  const declared = new RegExp(
    `^export (?:abstract )?(?:async )?(?:const|function\\*?|class|interface|type) ${name}\\b`,
    'm',
  ).exec(code)
  if (!declared) return undefined
  const before = text.slice(0, declared.index).replace(/(?:^\/\/.*\n)+$/m, '')
  if (before.trimEnd().endsWith('*/')) return undefined
  return { file, line: lineAt(text, declared.index), message: `${name} is exported and has no comment` }
}

function exportsOf({ text, code }: SourceFile): ExportedName[] {
  const listed = [...code.matchAll(/^export (?:type )?\{([^}]*)\}(?: from ')?/gm)].flatMap(match => {
    const end = match.index + match[0].length
    const module = match[0].endsWith("'") ? text.slice(end, text.indexOf("'", end)) : undefined
    const items = match[1]!.split(',').map(item => item.trim().replace(/^type /, ''))
    return items.filter(Boolean).map((item): ExportedName => {
      const [name = '', alias = name] = item.split(' as ')
      return module === undefined ? { name: alias } : { name: alias, from: { module, name } }
    })
  })
  const declared = code.matchAll(
    /^export (?:abstract )?(?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm,
  )
  return [...listed, ...[...declared].map(([, name]) => ({ name: name! }))]
}
