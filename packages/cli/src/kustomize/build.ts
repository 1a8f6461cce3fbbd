import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { buildKustomization, isKustomizeError } from '@coxswain/kustomize'
import { diskFiles } from '@coxswain/kustomize/node'
import { CommandError, explainSystemError } from '../exit.ts'
import type { BuildCommandOptions } from './options.ts'

/** Builds a folder and prints the objects, or writes them to a file as a whole. */
export function build(folder: string, options: BuildCommandOptions): void {
  const text = buildText(folder, options)
  if (options.output === undefined) process.stdout.write(text)
  else writeWhole(options.output, text)
}

function buildText(folder: string, { loadRestrictor }: BuildCommandOptions): string {
  try {
    const loadRestrictions = loadRestrictor === 'LoadRestrictionsNone' ? 'none' : 'rootOnly'
    return buildKustomization(isRemote(folder) ? folder : resolve(folder), diskFiles(), {
      loadRestrictions,
      onWarning: warning => process.stderr.write(`${warning}\n`),
    }).text
  } catch (error) {
    if (isKustomizeError(error)) throw new CommandError(error.message.trimEnd(), { cause: error })
    throw new CommandError(`${folder}: ${explainSystemError(error)}`, { cause: error })
  }
}

/** A repository stays as it is, so that the error names it. */
const isRemote = (folder: string): boolean => /^[a-z+]+:\/\/|^[\w-]+@|^github\.com[/:]/i.test(folder)

function writeWhole(file: string, text: string): void {
  const staged = `${file}.${process.pid}.tmp`
  try {
    writeFileSync(staged, text)
    renameSync(staged, file)
  } catch (error) {
    rmSync(staged, { force: true })
    throw new CommandError(`cannot write ${file}: ${explainSystemError(error)}`, { cause: error })
  }
}
