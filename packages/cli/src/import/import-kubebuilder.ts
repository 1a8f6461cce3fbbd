import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { isProjectError } from '@coxswain/project/files'
import { importKubebuilder } from '@coxswain/project/import-kubebuilder'
import { writeFiles } from '@coxswain/project/node'
import { definitionsFromPath } from '../definitions/definition-files.ts'
import { CommandError, explainSystemError } from '../exit.ts'

/** Writes the twin of the Go project in `folder`. */
export function runImportKubebuilder(folder: string, { out }: { readonly out: string }): void {
  const role = join(folder, 'config/rbac/role.yaml')
  try {
    const { files, todo } = importKubebuilder({
      project: read(join(folder, 'PROJECT')),
      definitions: definitionsFromPath(join(folder, 'config/crd/bases')),
      roles: existsSync(role) ? readYamlDocuments(read(role)).map(({ value }) => value) : [],
      sources: globSync('{internal/controller,controllers}/**/*.go', { cwd: folder })
        .sort()
        .map(file => read(join(folder, file))),
    })
    const taken = files.find(({ path }) => existsSync(join(out, path)))
    if (taken)
      throw new CommandError(`${join(out, taken.path)} exists already; choose another folder with --out`)
    writeFiles(out, files)
    for (const { path } of files) process.stdout.write(`${join(out, path)}\n`)
    process.stdout.write(`\nStill to do:\n${todo.map(line => `  ${line}\n`).join('')}`)
  } catch (error) {
    if (isProjectError(error)) throw new CommandError(`${folder}: ${error.message}`, { cause: error })
    throw error
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandError(`${path} ${explainSystemError(error)}`, { cause: error })
  }
}
