/** What the entry points of packages export, and where each name is declared. */
import { posix } from 'node:path'
import { readSources, type SourceFile } from './source.ts'
import { entryPoints, readPackages } from './workspace.ts'

export interface Declaration {
  /** What it is called where it is declared. */
  readonly name: string
  readonly source: SourceFile
  /** Where the declaration begins in the text of the file. */
  readonly index: number
  readonly isType: boolean
  /** The comment before it, without its marks; undefined without one. */
  readonly comment: string | undefined
}

/** An entry point of a package: `@coxswain/client/node`. */
export interface EntryPointExports {
  readonly specifier: string
  readonly exports: readonly { readonly name: string; readonly declaration: Declaration | undefined }[]
}

interface ExportedName {
  readonly name: string
  /** Where it comes from; undefined when it is declared in the file. */
  readonly from?: { readonly module: string; readonly name: string }
}

/** All entry points of all packages; what only tests import is left out. Names of generated files have no declaration. */
export async function readExports(root: string): Promise<EntryPointExports[]> {
  const files = new Map(
    (await readSources(root, ['packages/*/src/**/*.ts'])).map(source => [source.path, source]),
  )
  const entries = new Map<string, SourceFile>()
  for (const { folder, manifest } of await readPackages(root)) {
    for (const { entry, file } of await entryPoints(posix.join(root, 'packages', folder), manifest)) {
      const index = files.get(posix.join('packages', folder, file))
      if (index && !entry.includes('test-support')) entries.set(posix.join(manifest.name!, entry), index)
    }
  }
  const find = (source: SourceFile, name: string): Declaration | undefined => {
    const { from } = exportsOf(source).find(exported => exported.name === name) ?? {}
    if (!from) return declarationOf(source, name)
    const next = from.module.startsWith('.')
      ? files.get(posix.join(posix.dirname(source.path), from.module))
      : entries.get(from.module)
    return next && find(next, from.name)
  }
  return [...entries].map(([specifier, source]) => ({
    specifier,
    exports: exportsOf(source).map(({ name }) => ({ name, declaration: find(source, name) })),
  }))
}

function declarationOf(source: SourceFile, name: string): Declaration | undefined {
  const { text, code } = source
  const declared = new RegExp(
    `^export (?:abstract )?(?:async )?(const|function\\*?|class|interface|type) ${name}\\b`,
    'm',
  ).exec(code)
  if (!declared) return undefined
  const before = text
    .slice(0, declared.index)
    .replace(/(?:^\/\/.*\n)+$/m, '')
    .trimEnd()
  const comment = before.endsWith('*/')
    ? before
        .slice(before.lastIndexOf('/**') + 3, -2)
        .replaceAll(/\n\s*\*/g, '\n')
        .trim()
    : undefined
  const isType = declared[1] === 'interface' || declared[1] === 'type'
  return { name, source, index: declared.index, isType, comment }
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
