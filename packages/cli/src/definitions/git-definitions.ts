import { spawnSync } from 'node:child_process'
import type { ReadDefinition } from '@coxswain/project/definitions'
import { CommandError } from '../exit.ts'
import { definitionsFromText, manifestName } from './definition-files.ts'

/** The CRDs in a file or folder of a git revision: `git:main:config/crd`. The path is relative to the working directory. */
export function definitionsFromGit(source: string): ReadDefinition[] {
  const [, revision, path] = /^git:([^:-][^:]*):(.+)$/.exec(source) ?? []
  if (revision === undefined || path === undefined)
    throw new CommandError(
      `${source} is not of the form git:REVISION:PATH, for example git:main:config/crd`,
      {
        exitCode: 2,
      },
    )
  const files = git(source, ['ls-tree', '-r', '-z', '--name-only', revision, '--', path])
    .split('\0')
    .filter(file => manifestName.test(file))
  if (files.length === 0) throw new CommandError(`${source}: there is no manifest`)
  return files.flatMap(file => {
    const text = git(source, ['show', `${revision}:./${file}`])
    return text.includes('CustomResourceDefinition')
      ? definitionsFromText(text, `git:${revision}:${file}`)
      : []
  })
}

function git(source: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, {
    encoding: 'utf8',
    maxBuffer: 256 * 2 ** 20,
  })
  if (error) throw new CommandError(`${source}: git cannot be run: ${error.message}`, { cause: error })
  if (status !== 0) throw new CommandError(`${source}: ${stderr.trim().split('\n').at(-1)}`)
  return stdout
}
