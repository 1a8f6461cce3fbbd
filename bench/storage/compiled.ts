import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { cacheFolder } from '../../tools/components/index.ts'
import { runOrFail } from '../../tools/components/process.ts'

export type SqliteModule = typeof import('@coxswain/storage/sqlite')

/**
 * The sqlite store as it is published: compiled. From source every thread of it begins with loading a compiler, which
 * takes longer than opening a store of 100,000 objects.
 */
export async function importCompiled(): Promise<SqliteModule> {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const target = join(cacheFolder, 'build', 'storage-compiled')
  await rm(target, { recursive: true, force: true })
  await mkdir(target, { recursive: true })
  const source = join(root, 'packages/storage/src')
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: false,
      outDir: target,
      rootDir: source,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    files: ['index.ts', 'worker.ts'].map(file => join(source, 'node/sqlite', file)),
  }
  await writeFile(join(target, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(target, 'package.json'), '{ "type": "module" }\n')
  await runOrFail(join(root, 'node_modules/.bin/tsc'), ['-p', join(target, 'tsconfig.json')])
  return await import(pathToFileURL(join(target, 'node/sqlite/index.js')).href)
}
