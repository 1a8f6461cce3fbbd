import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isDNS1123Label } from '@coxswain/apimachinery/validation'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { CommandError } from '../exit.ts'

export interface ProjectName {
  readonly name: string
  readonly domain?: string
}

/** The name of the project: PROJECT's, else that of package.json without its scope, else the folder's. */
export function readProject(folder: string): ProjectName {
  const project = readMembers(join(folder, 'PROJECT'), text => readYaml(text)?.value)
  const manifest = readMembers(join(folder, 'package.json'), JSON.parse)
  const given = textOf(project?.projectName) ?? textOf(manifest?.name)?.replace(/^@[^/]*\//, '')
  const name =
    given ??
    basename(folder)
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
  const [problem] = isDNS1123Label(`${name}-system`)
  if (problem !== undefined)
    throw new CommandError(
      `the project's name ${JSON.stringify(name)} cannot be part of names in a cluster: ${problem}. Set projectName in PROJECT, or name in package.json`,
    )
  const domain = textOf(project?.domain)
  return { name, ...(domain !== undefined && { domain }) }
}

function readMembers(
  path: string,
  read: (text: string) => unknown,
): Readonly<Record<string, unknown>> | undefined {
  if (!existsSync(path)) return undefined
  try {
    const value = read(readFileSync(path, 'utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(`${path}: ${reason}`, { cause: error })
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
