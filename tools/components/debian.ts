/** Programs of Debian packages, unpacked into the cache: nothing on the machine is replaced. */
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, runOrFail } from './process.ts'

export interface DebianOptions {
  readonly cache: string
  readonly package: string
  /** Where the program lies inside the package, such as `usr/bin/kubectl`. */
  readonly path: string
  /** What it is called in the cache, so that several versions live side by side. */
  readonly name: string
}

/** Gives the path of the program, downloading the package only when it is not there yet. */
export async function unpackDebianProgram(options: DebianOptions): Promise<string> {
  const { cache, path, name } = options
  const target = join(cache, 'bin', name)
  if (existsSync(target)) return target
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-deb-'))
  try {
    await download(options.package, folder)
    const archive = (await readdir(folder)).find(file => file.endsWith('.deb'))
    if (!archive) throw new Error(`apt-get downloaded no package for ${options.package}`)
    await runOrFail('dpkg-deb', ['-x', join(folder, archive), join(folder, 'root')])
    await mkdir(join(cache, 'bin'), { recursive: true })
    await copyFile(join(folder, 'root', path), `${target}.partial`)
    await rename(`${target}.partial`, target)
    return target
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A fresh machine has no package lists, an old one stale lists: a failure is tried again after an update. */
async function download(name: string, folder: string): Promise<void> {
  if ((await run('apt-get', ['download', name], { cwd: folder })).code === 0) return
  await runOrFail('apt-get', ['update'])
  await runOrFail('apt-get', ['download', name], { cwd: folder })
}

/** Gives the path of a program in PATH, installing its package when there is none. Needs root for that. */
export async function installDebianProgram(name: string, program: string): Promise<string> {
  const found = await run('sh', ['-c', `command -v ${program}`])
  if (found.code === 0) return found.stdout.trim()
  await runOrFail('apt-get', ['update'])
  await runOrFail('apt-get', ['install', '--yes', '--no-install-recommends', name])
  return (await runOrFail('sh', ['-c', `command -v ${program}`])).trim()
}
