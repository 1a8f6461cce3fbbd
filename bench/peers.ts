import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const folder = fileURLToPath(new URL('../.cache/peers', import.meta.url))

/**
 * A library that ours is measured against. It is no dependency of the repository: npm puts it under `.cache/peers` the
 * first time, without running its scripts. `entry` is a path below the package for those with several.
 */
export async function importPeer(name: string, version: string, entry?: string): Promise<unknown> {
  const home = join(folder, `${name.replaceAll('/', '+')}@${version}`)
  const installed = join(home, 'node_modules', name)
  if (!existsSync(join(installed, 'package.json'))) {
    await mkdir(home, { recursive: true })
    await writeFile(join(home, 'package.json'), '{ "private": true }\n')
    const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`]
    await promisify(execFile)('npm', args, { cwd: home })
  }
  return await import(pathToFileURL(join(installed, entry ?? (await entryOf(installed)))).href)
}

interface PackageJson {
  readonly main?: string
  readonly module?: string
  readonly exports?: unknown
}

/** Where `import` of the package leads. */
async function entryOf(directory: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as PackageJson
  return conditionOf(manifest.exports) ?? manifest.module ?? manifest.main ?? 'index.js'
}

function conditionOf(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports
  if (typeof exports !== 'object' || exports === null) return undefined
  const known = exports as Readonly<Record<string, unknown>>
  for (const condition of ['.', 'node', 'import', 'module', 'default']) {
    const found = conditionOf(known[condition])
    if (found !== undefined) return found
  }
  return undefined
}
