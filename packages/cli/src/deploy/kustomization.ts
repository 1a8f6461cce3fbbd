import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildKustomization, isKustomizeError } from '@coxswain/kustomize'
import { diskFiles } from '@coxswain/kustomize/node'
import { type Manifest, toManifests } from '@coxswain/project/deploy'
import { CommandError } from '../exit.ts'

const names = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** The objects of a folder with a kustomization. */
export function buildFolder(folder: string): Manifest[] {
  if (!names.some(name => existsSync(join(folder, name))))
    throw new CommandError(`${folder}: has no kustomization.yaml; coxswain manifests writes those of config/`)
  try {
    const { objects, warnings } = buildKustomization(resolve(folder), diskFiles())
    for (const warning of warnings) process.stderr.write(`coxswain: ${warning}\n`)
    return objects.flatMap(object => toManifests(object, folder))
  } catch (error) {
    if (!isKustomizeError(error)) throw error
    throw new CommandError(error.message, { cause: error })
  }
}
