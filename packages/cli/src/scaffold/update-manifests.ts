import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { generatedHeader } from '@coxswain/project/manifests'
import { writeFiles } from '@coxswain/project/node'
import { basePath, type ScaffoldBase, writeBase } from '@coxswain/project/scaffold'
import { CommandError } from '../exit.ts'
import { ownCommand } from '../parent.ts'
import { runProgram } from './run-program.ts'

/**
 * Runs `coxswain manifests` in a process of its own, which loads the operator as it is now. Files of config/ that belong to the author but
 * are still as they were made are made again: the manager of an operator with webhooks has other arguments.
 */
export async function updateManifests(folder: string, base: ScaffoldBase): Promise<void> {
  if (!existsSync(join(folder, 'node_modules/coxswain'))) {
    process.stdout.write('the manifests are not written yet: run npm install, then npm run manifests\n')
    return
  }
  const untouched = [...base.files].filter(
    ([path, content]) => path.startsWith('config/') && readIfPresent(join(folder, path)) === content,
  )
  const before = new Set(ownedFiles(folder))
  for (const [path] of untouched) before.delete(path)
  writeFiles(folder, [], { remove: untouched.map(([path]) => path) })
  const [program, ...own] = ownCommand()
  const { code, output } = await runProgram(program, [...own, 'manifests'], folder)
  if (code !== 0) {
    const missing = untouched.filter(([path]) => !existsSync(join(folder, path)))
    writeFiles(
      folder,
      missing.map(([path, content]) => ({ path, content })),
    )
    throw new CommandError(`the files are written, but coxswain manifests failed:\n${output.trim()}`)
  }
  process.stdout.write(output)
  const made = ownedFiles(folder).filter(path => !before.has(path))
  const files = new Map([
    ...base.files,
    ...made.map(path => [path, readFileSync(join(folder, path), 'utf8')] as const),
  ])
  writeFiles(folder, [{ path: basePath, content: writeBase({ ...base, files }) }])
}

/** The files of config/ that belong to the author. */
function ownedFiles(folder: string): string[] {
  return globSync('config/**/*.yaml', { cwd: folder })
    .map(path => path.split(sep).join('/'))
    .filter(path => !readFileSync(join(folder, path), 'utf8').startsWith(generatedHeader))
}

function readIfPresent(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}
