import { readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { isObject } from '@coxswain/apimachinery/json'
import { ProjectError } from '../../errors.ts'
import type { SbomPackage } from '../../image/spdx.ts'
import type { LayerEntry } from './layer.ts'
import { commonFolder, findProductionPackages, type ProductionPackage } from './production-packages.ts'
import { walkFolder } from './walk-folder.ts'

/** What an image of a project consists of, apart from its base. */
export interface ImagePlan {
  /** From the one that changes least to the one that changes most; none is empty. */
  readonly layers: readonly { readonly title: string; readonly entries: readonly LayerEntry[] }[]
  /** The project's folder in the image. */
  readonly workingDirectory: string
  /** The file of the coxswain command in the image. */
  readonly command: string
  readonly project: SbomPackage
  readonly packages: readonly SbomPackage[]
  /** Packages with compiled code, which runs on one platform only. */
  readonly native: readonly string[]
  readonly warnings: readonly string[]
}

const imageRoot = 'app'

/** Reads a project's folder: which files go to which layer, apart from the absolute paths of `exclude`. Throws `BadProject`. */
export function planImage(
  folder: string,
  operators: readonly string[],
  exclude: readonly string[] = [],
): ImagePlan {
  const graph = findProductionPackages(folder)
  const { project, packages, links } = graph
  const command = packages.find(each => each.name === 'coxswain')
  if (command?.bin === undefined)
    throw new ProjectError(
      'BadProject',
      `${join(project.folder, 'package.json')}: coxswain is not one of its dependencies, and the image runs it: npm install coxswain`,
    )
  const top = commonFolder([
    project.folder,
    ...packages.map(each => each.folder),
    ...[...links.keys()].map(dirname),
  ])
  if (dirname(top) === top)
    throw new ProjectError(
      'BadProject',
      `${project.folder} depends on linked packages that share no folder with it: ${outermost(project, packages)}`,
    )
  const pathOf = (path: string) =>
    [
      imageRoot,
      ...relative(top, path)
        .split(sep)
        .filter(part => part !== ''),
    ].join('/')
  const warnings: string[] = []
  const folders = new Set([project.folder, ...packages.map(each => each.folder), ...exclude])
  const walk = (kind: 'code' | 'package') => (each: ProductionPackage) => [
    { path: pathOf(each.folder), type: 'folder' as const },
    ...walkFolder({ folder: each.folder, pathOf, skip: folders, kind, warn: text => warnings.push(text) }),
  ]
  const isInstalled = (each: ProductionPackage) => each.folder.split(sep).includes('node_modules')
  const installed = packages.filter(isInstalled)
  const linked = packages.filter(each => !isInstalled(each))
  const symbolic = [...links].map(
    ([path, real]): LayerEntry => ({
      path: pathOf(path),
      type: 'link',
      target: relative(dirname(path), real).split(sep).join('/'),
    }),
  )
  const code = walk('code')(project)
  checkOperators(operators, code, pathOf(project.folder))
  const dependencies = installed.flatMap(walk('package'))
  return {
    layers: [
      { title: 'dependencies', entries: complete([...dependencies, ...symbolic]) },
      { title: 'linked packages', entries: complete(linked.flatMap(walk('code'))) },
      { title: 'code', entries: complete(code) },
    ].filter(layer => layer.entries.length > 0),
    workingDirectory: `/${pathOf(project.folder)}`,
    command: `/${pathOf(join(command.folder, command.bin))}`,
    project,
    packages: describePackages(packages, top),
    native: nativePackages(installed, dependencies),
    warnings,
  }
}

/** What the image runs has to be in it. */
function checkOperators(operators: readonly string[], code: readonly LayerEntry[], folder: string): void {
  const paths = new Set(code.map(entry => entry.path))
  for (const operator of operators) {
    const path = operator.replace(/^\.\//, '')
    if (!paths.has(`${folder}/${path}`))
      throw new ProjectError(
        'BadProject',
        `${operator} is not in the image: it does not exist, or .dockerignore or .gitignore leaves it out`,
      )
  }
}

/** Sorted, once each, with the folders that lead to them. */
function complete(entries: readonly LayerEntry[]): LayerEntry[] {
  const all = new Map<string, LayerEntry>()
  for (const entry of entries) {
    for (let at = entry.path.lastIndexOf('/'); at > 0; at = entry.path.lastIndexOf('/', at - 1)) {
      const path = entry.path.slice(0, at)
      if (all.has(path)) break
      all.set(path, { path, type: 'folder' })
    }
    all.set(entry.path, entry)
  }
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Compiled modules, and packages that say which platform they are for. */
function nativePackages(packages: readonly ProductionPackage[], entries: readonly LayerEntry[]): string[] {
  const compiled = entries.flatMap(({ path }) => (path.endsWith('.node') ? [path] : []))
  const named = packages.filter(each => each.os.length > 0 || each.cpu.length > 0)
  return [...named.map(each => `${each.name}@${each.version}`), ...compiled].sort()
}

function outermost(project: ProductionPackage, packages: readonly ProductionPackage[]): string {
  const first = project.folder.split(sep)[1]
  return packages.find(each => each.folder.split(sep)[1] !== first)?.folder ?? project.folder
}

/** With the checksums of the lock file, where there is one. One entry for each name and version. */
function describePackages(packages: readonly ProductionPackage[], top: string): SbomPackage[] {
  const integrity = readIntegrity(top)
  const described = new Map<string, SbomPackage>()
  for (const { name, version, license, dependsOn, folder } of packages) {
    const sha512 = integrity.get(relative(top, folder).split(sep).join('/'))
    described.set(`${name}@${version}`, {
      name,
      version,
      ...(license !== undefined && { license }),
      ...(sha512 !== undefined && { sha512 }),
      dependsOn,
    })
  }
  return [...described].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
}

/** From package-lock.json: folder to SHA-512 in hex. */
function readIntegrity(top: string): Map<string, string> {
  let lock: unknown
  try {
    lock = JSON.parse(readFileSync(join(top, 'package-lock.json'), 'utf8'))
  } catch {
    return new Map() // without a lock file there are no checksums to give
  }
  const packages = isObject(lock) && isObject(lock.packages) ? lock.packages : {}
  return new Map(
    Object.entries(packages).flatMap(([path, each]) => {
      const text = isObject(each) && typeof each.integrity === 'string' ? each.integrity : ''
      const found = /sha512-([A-Za-z0-9+/=]+)/.exec(text)?.[1]
      return found === undefined ? [] : [[path, Buffer.from(found, 'base64').toString('hex')] as const]
    }),
  )
}
