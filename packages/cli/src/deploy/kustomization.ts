import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Manifest, readManifests } from '@coxswain/project/deploy'
import { CommandError } from '../exit.ts'

const names = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** The objects of a folder with a kustomization. */
export async function buildFolder(folder: string): Promise<Manifest[]> {
  if (!names.some(name => existsSync(join(folder, name))))
    throw new CommandError(`${folder}: has no kustomization.yaml; coxswain manifests writes those of config/`)
  try {
    const { stdout } = await promisify(execFile)('kubectl', ['kustomize', folder], {
      maxBuffer: 64 * 1024 * 1024,
    })
    return readManifests(stdout, folder)
  } catch (error) {
    const { stderr, code } = error as { stderr?: string; code?: unknown }
    if (code === 'ENOENT')
      throw new CommandError('kubectl is not in PATH; it builds kustomizations', { cause: error })
    throw new CommandError(`${folder}: ${stderr?.trim() || (error as Error).message}`, { cause: error })
  }
}
