/**
 * The ladder: `packages` of `layers.json` names, from top to bottom, the packages that each package may import. No upward
 * edge, cycle, deep import, undeclared or unused dependency, and no `node:` module in the core outside `src/node/`. What
 * holds inside a package is in `rooms.ts`. Examples stand where users do: they import what is published and declared.
 */
import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import type { Check, Finding } from './finding.ts'
import { checkRooms, type FolderLadders } from './rooms.ts'
import { findImports, isTest, readSources } from './source.ts'
import { entryPoints, readManifest, readPackages, type WorkspacePackage } from './workspace.ts'

type Layers = Readonly<Record<string, readonly string[]>>

interface LayerFile {
  readonly packages: Layers
  readonly folders?: FolderLadders
}

/** Packages that live on a machine; everything else runs anywhere JavaScript runs. */
const machineBound = new Set(['cli', 'coxswain'])

/** Only tests, examples and the facade that hands it on may use it; a test that does may import what a cluster consists of. */
const testOnly = 'testing'

export const layers: Check = {
  name: 'layers',
  async run(root) {
    const { packages: ladder, folders = {} } = JSON.parse(
      await readFile(join(root, 'layers.json'), 'utf8'),
    ) as LayerFile
    const packages = await readPackages(root)
    const findings = [...checkLadder(ladder, packages)]
    for (const each of packages) {
      findings.push(...(await checkPackage(root, each, ladder, packages)))
      findings.push(...(await checkRooms(root, each.folder, folders)))
    }
    findings.push(...(await checkExamples(root, packages)))
    return findings
  },
}

function* checkLadder(ladder: Layers, packages: readonly WorkspacePackage[]): Generator<Finding> {
  const file = 'layers.json'
  for (const { folder } of packages) {
    if (!ladder[folder]) yield { file, message: `says nothing about packages/${folder}` }
  }
  for (const [name, allowed] of Object.entries(ladder)) {
    if (!packages.some(({ folder }) => folder === name))
      yield { file, message: `names ${name}, which is no package` }
    for (const below of allowed) {
      if (!ladder[below]) yield { file, message: `lets ${name} import ${below}, which is no package` }
    }
  }
  const rows = Object.keys(ladder)
  for (const [name, allowed] of Object.entries(ladder)) {
    for (const below of allowed) {
      if (rows.includes(below) && rows.indexOf(below) < rows.indexOf(name))
        yield { file, message: `names ${below} above ${name}, which imports it` }
    }
  }
  const cycle = findCycle(ladder)
  if (cycle) yield { file, message: `has a cycle: ${cycle.join(' -> ')}` }
}

function findCycle(ladder: Layers): string[] | undefined {
  const done = new Set<string>()
  const visit = (name: string, path: readonly string[]): string[] | undefined => {
    const start = path.indexOf(name)
    if (start >= 0) return [...path.slice(start), name]
    if (done.has(name)) return undefined
    for (const below of ladder[name] ?? []) {
      const cycle = visit(below, [...path, name])
      if (cycle) return cycle
    }
    done.add(name)
    return undefined
  }
  for (const name of Object.keys(ladder)) {
    const cycle = visit(name, [])
    if (cycle) return cycle
  }
  return undefined
}

async function checkPackage(
  root: string,
  { folder, manifest }: WorkspacePackage,
  ladder: Layers,
  packages: readonly WorkspacePackage[],
): Promise<Finding[]> {
  const findings: Finding[] = []
  const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
  const used = new Set<string>()
  const base = `packages/${folder}`
  for (const source of await readSources(root, [`${base}/src/**/*.ts`, `${base}/bin/**/*.{ts,js}`])) {
    const file = source.path
    const test = isTest(file)
    const imports = findImports(source)
    const playsOnCluster =
      test && imports.some(({ specifier }) => packageOf(specifier) === `@coxswain/${testOnly}`)
    for (const { specifier, line } of imports) {
      const say = (message: string) => findings.push({ file, line, message })
      if (specifier.startsWith('.')) {
        const target = join(file, '..', specifier)
        if (!target.startsWith(`${base}/`) && !(test && /^(tools|interop)\//.test(target))) {
          say(`reaches out of its package: ${specifier}`)
        }
        continue
      }
      if (isBuiltin(specifier)) {
        if (!test && !machineBound.has(folder) && !file.startsWith(`${base}/src/node/`)) {
          say(`imports ${specifier} outside src/node/: the core runs anywhere JavaScript runs`)
        }
        continue
      }
      const name = packageOf(specifier)
      used.add(name)
      const inside = packages.find(each => each.manifest.name === name)
      if (name === manifest.name) {
        if (!test) say(`imports its own package by name: ${specifier}`)
      } else if (inside) {
        const entry = `.${specifier.slice(name.length)}`
        if (!(await isExported(root, inside, specifier))) say(`deep import: ${name} does not export ${entry}`)
        if (!test && isTest(`${specifier}/`)) say(`what only tests may import: ${specifier}`)
        const allowed =
          ladder[folder]?.includes(inside.folder) ||
          (test && inside.folder === testOnly) ||
          (playsOnCluster && ladder[testOnly]?.includes(inside.folder))
        if (!allowed) say(`upward import: layers.json does not let ${folder} import ${inside.folder}`)
      }
      if (!test && !declared.has(name) && name !== manifest.name) say(`undeclared dependency: ${name}`)
    }
  }
  for (const name of declared) {
    if (!used.has(name)) {
      findings.push({ file: `${base}/package.json`, message: `unused dependency: ${name}` })
    }
  }
  return findings
}

async function checkExamples(root: string, packages: readonly WorkspacePackage[]): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const source of await readSources(root, ['examples/*/**/*.ts'])) {
    const folder = source.path.split('/').slice(0, 2).join('/')
    const { dependencies = {}, devDependencies = {} } = await readManifest(join(root, folder))
    for (const { specifier, line } of findImports(source)) {
      const say = (message: string) => findings.push({ file: source.path, line, message })
      if (specifier.startsWith('.')) {
        if (!join(source.path, '..', specifier).startsWith(`${folder}/`))
          say(`reaches out of its example: ${specifier}`)
      } else if (!isBuiltin(specifier)) {
        const name = packageOf(specifier)
        if (!(name in { ...dependencies, ...devDependencies })) say(`undeclared dependency: ${name}`)
        const inside = packages.find(each => each.manifest.name === name)
        if (inside && (isTest(`${specifier}/`) || !(await isExported(root, inside, specifier))))
          say(`deep import: ${specifier}`)
      }
    }
  }
  return findings
}

async function isExported(
  root: string,
  { folder, manifest }: WorkspacePackage,
  specifier: string,
): Promise<boolean> {
  const entries = await entryPoints(join(root, 'packages', folder), manifest)
  return entries.some(({ entry }) => entry === `.${specifier.slice(manifest.name!.length)}`)
}

/** `@scope/name/deep/path` -> `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
