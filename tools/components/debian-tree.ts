/** Debian packages with all they depend on, unpacked as one tree of files: nothing on the machine is replaced. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { run, runOrFail } from './process.ts'

export interface DebianTreeOptions {
  readonly cache: string
  readonly packages: readonly string[]
  /** What the tree is called in the cache. */
  readonly name: string
}

const withoutOthers = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map(
  kind => `--no-${kind}`,
)

/** Gives the path of the tree, downloading the packages only when it is not there yet. */
export async function unpackDebianTree({ cache, packages, name }: DebianTreeOptions): Promise<string> {
  const target = join(cache, 'bin', name)
  if (existsSync(target)) return target
  await mkdir(join(cache, 'bin'), { recursive: true })
  const folder = await mkdtemp(join(cache, `${name}-`))
  try {
    await download(packages, folder)
    const tree = join(folder, 'tree')
    for (const file of await readdir(folder))
      if (file.endsWith('.deb')) await runOrFail('dpkg-deb', ['-x', join(folder, file), tree])
    await rename(tree, target)
    return target
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A fresh machine has no package lists, an old one stale lists: a failure is tried again after an update. */
async function download(packages: readonly string[], folder: string): Promise<void> {
  const attempt = async () => {
    const listed = await runOrFail('apt-cache', ['depends', '--recurse', ...withoutOthers, ...packages])
    const names = [...new Set(listed.split('\n').filter(line => /^\w/.test(line)))]
    return run('apt-get', ['download', ...names], { cwd: folder })
  }
  const first = await attempt().catch(() => undefined)
  if (first?.code === 0) return
  await runOrFail('apt-get', ['update'])
  const second = await attempt()
  if (second.code !== 0) throw new Error(`apt-get download failed\n${second.stderr}`)
}
