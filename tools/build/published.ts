import type { Manifest } from '../checks/workspace.ts'

const toJs = (path: string) => path.replace(/\.ts$/, '.js')

/** What only tests of this repository import stays here. */
export const isPublished = (entry: string): boolean => !entry.startsWith('./test-support/')

/** A manifest whose entry points are compiled files. */
export interface PublishedManifest extends Readonly<Record<string, unknown>> {
  readonly exports: Readonly<Record<string, unknown>>
}

/** The manifest that is published: entry points are the compiled files, with their declarations. */
export function publishedManifest(manifest: Manifest): PublishedManifest {
  const { devDependencies: _, bin, exports = {}, files = [], ...rest } = manifest
  const published = Object.entries(exports).filter(([entry]) => isPublished(entry))
  const targets = [
    ...published.map(([, target]) => target),
    ...Object.values(typeof bin === 'string' ? { bin } : (bin ?? {})),
  ].filter(target => typeof target === 'string')
  return {
    ...rest,
    exports: Object.fromEntries(published.map(([entry, target]) => [entry, publishedEntry(entry, target)])),
    ...(bin === undefined ? {} : { bin: publishedBin(bin) }),
    files: [...new Set(['src', ...targets.map(target => target.split('/')[1]!), ...files])],
  }
}

function publishedEntry(entry: string, target: unknown): unknown {
  if (typeof target !== 'string') throw new Error(`the entry ${entry} is no path: ${JSON.stringify(target)}`)
  if (!target.endsWith('.ts')) return target
  return { types: target.replace(/\.ts$/, '.d.ts'), default: toJs(target) }
}

function publishedBin(bin: NonNullable<Manifest['bin']>): unknown {
  if (typeof bin === 'string') return toJs(bin)
  return Object.fromEntries(Object.entries(bin).map(([name, path]) => [name, toJs(path)]))
}

/**
 * What the compiler does not rewrite: relative specifiers in declarations, and files named by URL such as
 * `new Worker(new URL('./worker.ts', import.meta.url))`.
 */
export function rewriteExtensions(text: string): string {
  return text
    .replace(/(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(['"])(\.{1,2}\/[^'"\n]+)\.ts\2/g, '$1$2$3.js$2')
    .replace(/(\bnew URL\(\s*)(['"`])([^'"`\n]+)\.ts\2(\s*,\s*import\.meta\.url)/g, '$1$2$3.js$2$4')
}
