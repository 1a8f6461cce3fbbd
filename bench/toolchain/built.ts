import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPackages } from '../../tools/build/build-packages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
let built: Promise<string> | undefined

/** The command as users have it: the packages built as they are published, in a node_modules folder of their own. */
export function builtCommand(): Promise<string> {
  built ??= install()
  return built
}

async function install(): Promise<string> {
  const packages = await buildPackages(root)
  // Below the repository, so that the dependencies of the packages are found in its node_modules.
  const modules = join(root, 'dist/installed/node_modules')
  for (const { folder, manifest } of packages)
    await cp(join(root, 'dist', folder), join(modules, manifest.name!), { recursive: true })
  return join(modules, 'coxswain/bin/coxswain.js')
}
