/** The command as a few scripts in one folder: one for the main thread and one for each other thread. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { entryPoints, readPackages } from '../checks/workspace.ts'
import { runOrFail } from '../components/process.ts'
import { isPublished } from './published.ts'

/** Scripts and where they begin. The threads have the names of the modules that are started as threads. */
const scripts = {
  coxswain: 'tools/build/bundle/command.ts',
  'loops-entry': 'packages/cli/src/up/loops/loops-entry.ts',
  worker: 'packages/storage/src/node/sqlite/worker.ts',
  'yaml-worker': 'packages/apiserver/src/node/yaml-worker.ts',
}

/** The executable provides modules for operators and plug-ins. */
const executableScripts = {
  ...scripts,
  coxswain: 'tools/build/bundle/executable.ts',
  'loops-entry': 'tools/build/bundle/loops.ts',
}

/** Where a script is, and where the thread of a module is: beside it, under the module's name. */
const locate =
  "const bundleUrl=require('node:url').pathToFileURL(__filename).href," +
  "bundleResolve=name=>new URL(`${name.split('/').pop()}.js`,bundleUrl).href;"
/** A script of the executable is a function that its loader calls. */
const wrapper = { start: '(function (require, module, __filename) {', end: '})' }

export interface BundleOptions {
  readonly root: string
  readonly folder: string
  readonly kind: 'package' | 'executable'
}

/** Writes the scripts, as CommonJS, into a folder. The same sources give the same bytes. */
export async function bundleCommand({ root, folder, kind }: BundleOptions): Promise<readonly string[]> {
  const entries = kind === 'executable' ? executableScripts : scripts
  const commit = (await runOrFail('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root })).trim()
  await mkdir(folder, { recursive: true })
  await build({
    absWorkingDir: root,
    entryPoints: Object.entries(entries).map(([out, entry]) => ({ in: join(root, entry), out })),
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
    // Optional peers, installed by those who send traces.
    external: ['@opentelemetry/*'],
    plugins: [provideEveryModule(root), includeRequired],
    define: {
      'import.meta.url': 'bundleUrl',
      'import.meta.resolve': 'bundleResolve',
      coxswainCommit: JSON.stringify(commit),
    },
    // CommonJS has no import.meta: what is not defined above would fail only when it is called.
    logOverride: { 'empty-import-meta': 'error' },
    banner: { js: `${kind === 'executable' ? wrapper.start : ''}${locate}` },
    ...(kind === 'executable' && { footer: { js: wrapper.end } }),
  })
  // The package around it is one of ES modules.
  await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }\n')
  return Object.keys(entries).map(name => `${name}.js`)
}

/** Modules that are loaded late, in one turn: the bundle has to contain them, too. */
const includeRequired: Plugin = {
  name: 'include required modules',
  setup({ onLoad }) {
    onLoad({ filter: /\/packages\/kit\/src\/node\/pino-logger\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const contents = text.replace("createRequire(import.meta.url)('pino')", "require('pino')")
      if (contents === text) throw new Error(`${path} does not load pino any more as the bundle expects`)
      return { contents, loader: 'ts' }
    })
  },
}

/** Writes the table of modules that operators import from the executable. */
function provideEveryModule(root: string): Plugin {
  return {
    name: 'provide every module',
    setup({ onLoad }) {
      onLoad({ filter: /\/tools\/build\/bundle\/modules\.ts$/ }, async () => {
        const lines: string[] = []
        for (const { folder, manifest } of await readPackages(root))
          for (const { entry } of await entryPoints(join(root, 'packages', folder), manifest)) {
            if (!isPublished(entry)) continue
            const name = JSON.stringify(`${manifest.name}${entry.slice(1)}`)
            lines.push(`${name}: () => require(${name}),`)
          }
        return {
          contents: `export const modules = {\n${lines.join('\n')}\n}`,
          loader: 'ts',
          resolveDir: root,
        }
      })
    },
  }
}
