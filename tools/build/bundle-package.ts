import { glob, readFile, rm } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { build } from 'esbuild'

/**
 * Puts the modules of a built package into a few files: what an entry point needs, and what several share. Node spends about 0.3 ms on each
 * file that it loads, and a command loads hundreds. Declarations stay as they are; other packages are imported as before, so
 * that there is one copy of each. A package with files that are found by `import.meta.url` stays as it is; `import.meta.resolve` of an entry point works.
 */
export async function bundlePackage(
  folder: string,
  exports: Readonly<Record<string, unknown>>,
): Promise<void> {
  const modules = await Array.fromAsync(glob('src/**/*.js', { cwd: folder }))
  for (const module of modules)
    if (/\bimport\.meta\.url\b/.test(await readFile(join(folder, module), 'utf8'))) return
  const entryPoints = await Array.fromAsync(glob(entryPatterns(exports), { cwd: folder }))
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints,
    outbase: '.',
    outdir: '.',
    allowOverwrite: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    target: 'node24',
    packages: 'external',
    chunkNames: 'src/chunks/[hash]',
    metafile: true,
    logLevel: 'warning',
  })
  const written = new Set(Object.keys(metafile.outputs))
  for (const module of modules) if (!written.has(module)) await rm(join(folder, module))
}

function entryPatterns(exports: Readonly<Record<string, unknown>>): string[] {
  return Object.values(exports).flatMap(entry => {
    const path = typeof entry === 'string' ? entry : (entry as { default?: string }).default
    return path?.endsWith('.js') ? [normalize(path).replace('*', '**/*')] : []
  })
}
