import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type GeneratedFile, isProjectError } from '@coxswain/project/files'
import { writeFiles } from '@coxswain/project/node'
import {
  basePath,
  type ProjectFile,
  readBase,
  readProjectFile,
  type ScaffoldBase,
} from '@coxswain/project/scaffold'
import { CommandError } from '../exit.ts'

/** A scaffolded project on the disk. */
export interface ProjectFolder {
  readonly path: string
  readonly project: ProjectFile
  readonly base: ScaffoldBase
  /** A file of it; undefined when there is none. */
  read(path: string): string | undefined
}

/** The project of the working directory. */
export function openProject(): ProjectFolder {
  const path = process.cwd()
  const read = (file: string) =>
    existsSync(join(path, file)) ? readFileSync(join(path, file), 'utf8') : undefined
  const text = read('PROJECT')
  if (text === undefined)
    throw new CommandError(
      'there is no PROJECT here: run coxswain init, or change to the folder of a project',
    )
  const base = read(basePath)
  if (base === undefined)
    throw new CommandError(`there is no ${basePath} here: restore it from version control`)
  return explained(() => ({ path, project: readProjectFile(text), base: readBase(base), read }))
}

/** Writes all files or none, and lists them. */
export function writeProject(folder: string, files: readonly GeneratedFile[]): void {
  const existed = new Set(files.map(({ path }) => path).filter(path => existsSync(join(folder, path))))
  explained(() => writeFiles(folder, files))
  for (const { path } of files)
    if (path !== basePath) process.stdout.write(`${path} ${existed.has(path) ? 'updated' : 'created'}\n`)
}

/** What the user can mend is one line: names are bad usage. */
export function explained<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isProjectError(error)) throw error
    throw new CommandError(error.message, {
      exitCode: isProjectError(error, 'BadName') ? 2 : 1,
      cause: error,
    })
  }
}
