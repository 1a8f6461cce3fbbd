/** Programs that one Go module carries, built through the module proxy without a clone. */
import { existsSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runOrFail } from './process.ts'

export interface GoProgramOptions {
  readonly cache: string
  readonly module: string
  readonly version: string
  /** The folder of the program inside the module. @default the module's own */
  readonly path?: string
  /** Build tags. @default none */
  readonly tags?: readonly string[]
  /** What it is called in the cache. */
  readonly name: string
  readonly log?: (line: string) => void
}

/** Gives the path of the program, building it only when it is not there yet. */
export async function buildGoProgram(options: GoProgramOptions): Promise<string> {
  const { cache, module, version, path, tags = [], name, log = () => {} } = options
  const target = join(cache, 'bin', name)
  if (existsSync(target)) return target
  const folder = join(cache, 'build', name)
  await mkdir(folder, { recursive: true })
  await mkdir(join(cache, 'bin'), { recursive: true })
  // Without a go line Go loads every requirement of every requirement: minutes instead of seconds.
  const go = (await runOrFail('go', ['env', 'GOVERSION'], { cwd: folder, env: goEnvironment() }))
    .trim()
    .slice('go'.length)
  const manifest = `module coxswain.invalid/${name}\n\ngo ${go}\n\nrequire ${module} ${version}\n`
  await writeFile(join(folder, 'go.mod'), manifest)
  log(`building ${name} (${module} ${version})`)
  const program = path === undefined ? module : `${module}/${path}`
  const flags = ['-mod=mod', '-trimpath', '-tags', tags.join(','), '-ldflags', '-s -w']
  await runOrFail('go', ['build', ...flags, '-o', `${target}.partial`, program], {
    cwd: folder,
    env: goEnvironment(),
  })
  await rename(`${target}.partial`, target)
  return target
}

/** The caller's settings, less what would tie a build to a machine or a checkout. */
export function goEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOTOOLCHAIN: 'auto', GOWORK: 'off' }
}
