/**
 * `npm run build:binary -- [FILE]`: the command as one executable file for this platform (default: dist/coxswain), which needs no Node.
 * It is the Node of this repository with the bundled command, and what V8 makes of it, inside.
 */
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleCommand } from './build/bundle.ts'
import { runOrFail } from './components/process.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = resolve(process.argv[2] ?? join(root, 'dist/coxswain'))
const folder = await mkdtemp(join(tmpdir(), 'coxswain-binary-'))
try {
  const scripts = await bundleCommand({ root, folder, kind: 'executable' })
  await runOrFail(process.execPath, [join(root, 'tools/build/bundle/make-cache.cjs'), folder], {
    cwd: folder,
  })
  const loader = join(root, 'tools/build/bundle/loader.cjs')
  const assets = scripts.flatMap(name => [name, `${name}.cache`]).map(name => [name, join(folder, name)])
  const settings = {
    main: loader,
    executable: process.execPath,
    output: target,
    disableExperimentalSEAWarning: true,
    // Of import(), by which operators are loaded.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    useSnapshot: false,
    useCodeCache: false,
    assets: { 'loader.cjs': loader, ...Object.fromEntries(assets) },
  }
  const file = join(folder, 'executable.json')
  await writeFile(file, JSON.stringify(settings))
  await mkdir(dirname(target), { recursive: true })
  await rm(target, { force: true })
  await runOrFail(process.execPath, ['--build-sea', file], { cwd: folder })
  console.log(`${target}: ${((await stat(target)).size / 1e6).toFixed(0)} MB`)
} finally {
  await rm(folder, { recursive: true, force: true })
}
