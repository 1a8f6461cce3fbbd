import { existsSync } from 'node:fs'
import { glob, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A package of this repository, as its package.json describes it. */
export interface WorkspacePackage {
  /** The name of its folder under `packages/`. */
  readonly folder: string
  readonly manifest: Manifest
}

export interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly description?: string
  readonly license?: string
  readonly type?: string
  readonly engines?: { readonly node?: string }
  readonly exports?: Readonly<Record<string, unknown>>
  readonly files?: readonly string[]
  readonly bin?: string | Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export async function readPackages(root: string): Promise<WorkspacePackage[]> {
  const folders = await readdir(join(root, 'packages'))
  return Promise.all(
    folders
      .filter(folder => existsSync(join(root, 'packages', folder, 'package.json')))
      .sort()
      .map(async folder => ({ folder, manifest: await readManifest(join(root, 'packages', folder)) })),
  )
}

export async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
}

export interface EntryPoint {
  /** `.`, `./node`, or for a pattern each entry it stands for. */
  readonly entry: string
  /** The source file, relative to the package. */
  readonly file: string
}

/** What can be imported of the package in `folder`, patterns resolved to the files that are there. */
export async function entryPoints(folder: string, { exports = {} }: Manifest): Promise<EntryPoint[]> {
  const found: EntryPoint[] = []
  for (const [entry, target] of Object.entries(exports)) {
    if (typeof target !== 'string')
      throw new Error(`the entry ${entry} is no path: ${JSON.stringify(target)}`)
    const [before, after] = target.split('*')
    if (after === undefined) {
      found.push({ entry, file: target })
      continue
    }
    for await (const path of glob(target.replace('*', '**/*'), { cwd: folder })) {
      const file = `./${path.replace(/^\.\//, '')}`
      if (!file.endsWith(after)) continue
      found.push({ entry: entry.replace('*', file.slice(before!.length, file.length - after.length)), file })
    }
  }
  return found.sort((a, b) => (a.entry < b.entry ? -1 : 1))
}
