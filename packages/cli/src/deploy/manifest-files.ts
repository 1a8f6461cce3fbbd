import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Manifest, readManifests } from '@coxswain/project/deploy'
import { CommandError, explainSystemError } from '../exit.ts'

/** The objects of files and folders, as `kubectl apply -f` reads them; `-` is standard input. */
export async function readManifestFiles(
  paths: readonly string[],
  { recursive }: { readonly recursive: boolean },
): Promise<Manifest[]> {
  const read = await Promise.all(paths.map(path => readPath(path, { recursive })))
  const manifests = read.flat()
  if (manifests.length === 0) throw new CommandError('no objects passed to apply')
  return manifests
}

async function readPath(path: string, options: { readonly recursive: boolean }): Promise<Manifest[]> {
  if (/^https?:/.test(path))
    throw new CommandError(`-f ${path}: URLs are not supported; download it, or pipe it into -f -`, {
      exitCode: 2,
    })
  if (path === '-') return readManifests(await text(process.stdin), 'standard input')
  return filesOf(path, options).flatMap(file => readManifests(readFileSync(file, 'utf8'), file))
}

function filesOf(path: string, { recursive }: { readonly recursive: boolean }): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path]
    return readdirSync(path, { recursive, encoding: 'utf8' })
      .filter(name => /\.(ya?ml|json)$/.test(name))
      .sort()
      .map(name => join(path, name))
      .filter(file => statSync(file).isFile())
  } catch (error) {
    throw new CommandError(`-f ${path}: ${explainSystemError(error)}`, { cause: error })
  }
}
