import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundlePackage } from '../../tools/build/bundle-package.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The packages as users install them, bundled JavaScript, in a folder of its own. */
export async function publishPackages(
  packages: readonly string[],
  dependencies: readonly string[],
): Promise<Disposable & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'))
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  for (const name of dependencies) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  for (const name of packages) await publish(join(root, 'packages', name), join(modules, '@coxswain', name))
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

async function publish(from: string, to: string): Promise<void> {
  const files = readdirSync(join(from, 'src'), { recursive: true, encoding: 'utf8' })
  for (const file of files.filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))) {
    const source = stripTypeScriptTypes(readFileSync(join(from, 'src', file), 'utf8'))
    const target = join(to, 'src', file.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, source.replace(/(\bfrom\s+'\.[^']*|\bimport\(?\s*'\.[^']*)\.ts'/g, "$1.js'"))
  }
  const description = readFileSync(join(from, 'package.json'), 'utf8').replaceAll('.ts"', '.js"')
  writeFileSync(join(to, 'package.json'), description)
  await bundlePackage(to, JSON.parse(description).exports)
}
