import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { GeneratedFile } from '@coxswain/project/files'
import {
  basePath,
  checkProjectNames,
  completePackageJson,
  newBase,
  pristineFiles,
  problemOfDomain,
  problemOfProjectName,
  writeBase,
  writeProjectFile,
} from '@coxswain/project/scaffold'
import { CommandError } from '../exit.ts'
import type { InitOptions } from './options.ts'
import { explained, writeProject } from './project-folder.ts'
import { askText } from './prompts.ts'
import { runProgram } from './run-program.ts'

/** Files that may be there already. */
const allowed = new Set(['package.json', 'package-lock.json', 'node_modules', 'LICENSE'])

export async function runInit(options: InitOptions): Promise<void> {
  const folder = process.cwd()
  refuseOccupied(folder)
  const domain = await askText(
    {
      flag: '--domain',
      given: options.domain,
      message: 'Domain of the API groups',
      problemOf: problemOfDomain,
    },
    options,
  )
  const projectName = await askText(
    {
      flag: '--name',
      given: options.name,
      message: 'Name of the project',
      initial: nameOfFolder(folder),
      problemOf: problemOfProjectName,
    },
    options,
  )
  explained(() => checkProjectNames(domain, projectName))
  const project = { domain, projectName, resources: [] }
  const pristine = pristineFiles(project)
  const files: GeneratedFile[] = [
    { path: 'PROJECT', content: writeProjectFile(project) },
    ...[...pristine]
      .filter(([path]) => path === 'package.json' || !existsSync(join(folder, path)))
      .map(([path, content]) => ({
        path,
        content: path === 'package.json' ? ownPackage(folder, projectName, content) : content,
      })),
    { path: basePath, content: writeBase(newBase(pristine)) },
  ]
  writeProject(folder, files)
  if (options.fetchDeps) await install(folder)
  const steps = [
    ...(options.fetchDeps ? [] : ['npm install']),
    'npx coxswain create api --group GROUP --version v1 --kind KIND',
  ]
  process.stdout.write(`\nNext:\n${steps.map(step => `  ${step}\n`).join('')}`)
}

function refuseOccupied(folder: string): void {
  const names = readdirSync(folder).filter(name => !name.startsWith('.') && !allowed.has(name))
  if (names.includes('PROJECT')) throw new CommandError('already initialized: this folder has a PROJECT')
  if (names.length > 0)
    throw new CommandError(
      `this folder is not empty: it has ${names.slice(0, 3).join(', ')}${names.length > 3 ? ', ...' : ''}; run coxswain init in a new one`,
    )
}

function nameOfFolder(folder: string): string {
  return basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
}

function ownPackage(folder: string, name: string, pristine: string): string {
  const path = join(folder, 'package.json')
  return existsSync(path) ? explained(() => completePackageJson(readFileSync(path, 'utf8'), name)) : pristine
}

async function install(folder: string): Promise<void> {
  process.stdout.write('npm install\n')
  const { code, output } = await runProgram('npm', ['install', '--no-audit', '--no-fund'], folder)
  if (code === 0) return
  const reason =
    output
      .split('\n')
      .filter(line => /^npm (error|ERR!) /.test(line))
      .slice(0, 3)
      .join('\n') || output.trim()
  throw new CommandError(
    `the project is written, but its dependencies are not installed; run npm install again:\n${reason}`,
  )
}
