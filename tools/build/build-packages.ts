import { existsSync } from 'node:fs'
import { copyFile, glob, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readPackages, type WorkspacePackage } from '../checks/workspace.ts'
import { runOrFail } from '../components/process.ts'
import { bundleCommand } from './bundle.ts'
import { bundlePackage } from './bundle-package.ts'
import { publishedManifest, rewriteExtensions } from './published.ts'

const notPublished = ['**/*.ts', '**/testdata/**', '**/fixtures/**', '**/test-support/**']

/** Compiles all packages at once, then makes each folder under `dist/` one that npm can pack. */
export async function buildPackages(root: string): Promise<WorkspacePackage[]> {
  const dist = join(root, 'dist')
  await rm(dist, { recursive: true, force: true })
  await runOrFail(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json'], { cwd: root })
  const packages = await readPackages(root)
  for (const { folder, manifest } of packages) {
    const source = join(root, 'packages', folder)
    const target = join(dist, folder)
    await mkdir(target, { recursive: true })
    await rewriteEmitted(target)
    await copyAssets(source, target)
    const published = publishedManifest(manifest)
    await writeManifest(target, published)
    await bundlePackage(target, published.exports)
    await copyFile(join(root, 'LICENSE'), join(target, 'LICENSE'))
    if (existsSync(join(source, 'README.md')))
      await copyFile(join(source, 'README.md'), join(target, 'README.md'))
  }
  await bundleCommand({ root, folder: join(dist, 'coxswain/bundle'), kind: 'package' })
  return packages
}

async function rewriteEmitted(folder: string): Promise<void> {
  for await (const path of glob('**/*.{js,d.ts}', { cwd: folder })) {
    const text = await readFile(join(folder, path), 'utf8')
    const rewritten = rewriteExtensions(text)
    if (rewritten !== text) await writeFile(join(folder, path), rewritten)
  }
}

/** What the compiler leaves behind: tables, pages and other data that the code reads. */
async function copyAssets(source: string, target: string): Promise<void> {
  for await (const path of glob('{src,bin}/**', { cwd: source, exclude: notPublished })) {
    if (!(await stat(join(source, path))).isFile()) continue
    await mkdir(dirname(join(target, path)), { recursive: true })
    await copyFile(join(source, path), join(target, path))
  }
}

async function writeManifest(target: string, manifest: object): Promise<void> {
  await writeFile(join(target, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}
