import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CommandError } from '../exit.ts'
import { ownCommand } from '../parent.ts'
import { runProgram } from './run-program.ts'

/**
 * Runs `coxswain manifests` in a process of its own, which loads the operator as it is now. Files of config/ that belong to the author but
 * are still as they were made are made again: the manager of an operator with webhooks has other arguments.
 */
export async function updateManifests(folder: string): Promise<void> {
  if (!existsSync(join(folder, 'node_modules/coxswain'))) {
    process.stdout.write('the manifests are not written yet: run npm install, then npm run manifests\n')
    return
  }
  const [program, ...own] = ownCommand()
  const { code, output } = await runProgram(program, [...own, 'manifests', '--refresh'], folder)
  if (code !== 0)
    throw new CommandError(`the files are written, but coxswain manifests failed:\n${output.trim()}`)
  process.stdout.write(output)
}
