import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { ProjectError } from '../../errors.ts'
import { folderName } from './walk-folder.ts'

/** A package that the project needs at run time. */
export interface ProductionPackage {
  readonly name: string
  readonly version: string
  readonly license?: string
  /** Its real folder. */
  readonly folder: string
  /** `name@version` of what it depends on. */
  readonly dependsOn: readonly string[]
  /** Operating systems and processors that it is for, where it says so. */
  readonly os: readonly string[]
  readonly cpu: readonly string[]
  /** The file of the command of its own name, relative to its folder. */
  readonly bin?: string
}

export interface ProductionGraph {
  readonly project: ProductionPackage
  /** Without the project; sorted by folder. */
  readonly packages: readonly ProductionPackage[]
  /** Symbolic links between them: path to real path. */
  readonly links: ReadonlyMap<string, string>
}

interface Visit {
  readonly found: Map<string, ProductionPackage>
  readonly links: Map<string, string>
}

/** A name that npm would take; others could lead out of node_modules. */
const namePattern = /^(?:@[\w.~!'()*-]+\/)?[\w.~!'()*-]+$/

/** The most packages of one project. */
const maxPackages = 20_000

/**
 * Follows `dependencies`, `optionalDependencies` and installed `peerDependencies` from the project's package.json through node_modules, as
 * Node resolves them: workspaces, `file:` links and pnpm's store included. Throws `BadProject` for one that is not installed.
 */
export function findProductionPackages(folder: string): ProductionGraph {
  if (!existsSync(join(folder, 'package.json')))
    throw new ProjectError('BadProject', `${folder} is not a project: it has no package.json`)
  const root = realpathSync(folder)
  const state: Visit = { found: new Map(), links: new Map() }
  const folders = new Set([root])
  // A set that is added to while it is walked: each folder once.
  for (const each of folders) {
    if (folders.size > maxPackages)
      throw new ProjectError('BadProject', `${folder} has more than ${maxPackages} production dependencies`)
    for (const next of readPackage(each, state)) folders.add(next)
  }
  const { found, links } = state
  const packages = [...found.values()].filter(each => each.folder !== root)
  return {
    project: found.get(root)!,
    packages: packages.sort((a, b) => (a.folder < b.folder ? -1 : 1)),
    links,
  }
}

/** Reads a package and gives the folders of its dependencies. */
function readPackage(folder: string, { found, links }: Visit): string[] {
  const manifest = readManifest(folder)
  const needed = dependenciesOf(manifest)
  const folders: string[] = []
  const dependsOn: string[] = []
  for (const [name, isRequired] of needed) {
    if (!namePattern.test(name) || name === '.' || name === '..')
      throw new ProjectError(
        'BadProject',
        `${join(folder, 'package.json')}: ${JSON.stringify(name)} is not the name of a package`,
      )
    const real = resolvePackage(name, folder, links)
    if (real === undefined && isRequired)
      throw new ProjectError('BadProject', `${name}, a dependency of ${folder}, is not installed: run npm ci`)
    if (real === undefined) continue
    folders.push(real)
    const { version } = readManifest(real)
    dependsOn.push(`${name}@${textOf(version) ?? '0.0.0'}`)
  }
  const license = textOf(manifest.license)
  const name = textOf(manifest.name) ?? folderName(folder)
  const bin = binOf(manifest, name)
  found.set(folder, {
    name,
    version: textOf(manifest.version) ?? '0.0.0',
    ...(license !== undefined && { license }),
    folder,
    dependsOn: dependsOn.sort(),
    os: listOf(manifest.os),
    cpu: listOf(manifest.cpu),
    ...(bin !== undefined && { bin }),
  })
  return folders
}

/** Names, and whether a missing one is an error. */
function dependenciesOf(manifest: JsonObject): Map<string, boolean> {
  const names = (field: string) => (isObject(manifest[field]) ? Object.keys(manifest[field]) : [])
  return new Map([
    ...names('peerDependencies').map(name => [name, false] as const),
    ...names('dependencies').map(name => [name, true] as const),
    ...names('optionalDependencies').map(name => [name, false] as const),
  ])
}

/** Looks in node_modules of the folder and those above it. Records the symbolic links on the way to it. */
function resolvePackage(name: string, from: string, links: Map<string, string>): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const real = at.endsWith(`${sep}node_modules`)
      ? undefined
      : followLinks(at, ['node_modules', ...name.split('/')], links)
    if (real !== undefined) return real
    if (dirname(at) === at) return undefined
  }
}

function followLinks(
  folder: string,
  parts: readonly string[],
  links: Map<string, string>,
): string | undefined {
  let at = folder
  const passed: [string, string][] = []
  for (const part of parts) {
    at = join(at, part)
    const found = lstatSync(at, { throwIfNoEntry: false })
    if (found === undefined) return undefined
    if (!found.isSymbolicLink()) continue
    try {
      const real = realpathSync(at)
      passed.push([at, real])
      at = real
    } catch {
      return undefined // a link to nothing is a package that is not installed
    }
  }
  if (!lstatSync(join(at, 'package.json'), { throwIfNoEntry: false })?.isFile()) return undefined
  for (const [path, real] of passed) links.set(path, real)
  return at
}

function readManifest(folder: string): JsonObject {
  const file = join(folder, 'package.json')
  let read: unknown
  try {
    read = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ProjectError('BadProject', `${file} cannot be read: ${reason}`, { cause })
  }
  if (!isObject(read)) throw new ProjectError('BadProject', `${file} is not a JSON object`)
  return read
}

function binOf({ bin }: JsonObject, name: string): string | undefined {
  const file = isObject(bin) ? bin[name.replace(/^@.*\//, '')] : bin
  return textOf(file)?.replace(/^\.\//, '')
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

const listOf = (value: unknown) =>
  (Array.isArray(value) ? value : [value]).filter(each => typeof each === 'string')

/** The folder that holds all of them. */
export function commonFolder(folders: readonly string[]): string {
  const [first = sep, ...rest] = folders
  let common = first
  for (const folder of rest)
    while (folder !== common && relative(common, folder).split(sep)[0] === '..') common = dirname(common)
  return common
}
