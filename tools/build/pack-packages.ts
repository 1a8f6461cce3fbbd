import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkspacePackage } from '../checks/workspace.ts'
import { runOrFail } from '../components/process.ts'

export interface Tarball {
  readonly name: string
  readonly version: string
  /** The whole path. */
  readonly file: string
}

/** npm of its own: settings of the npm that started us must not reach it. */
export const plainNpmEnv = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(config_local|package|lifecycle)/.test(name)),
  )

/** Packs what `buildPackages` has left under `dist/`. */
export async function packPackages(
  root: string,
  packages: readonly WorkspacePackage[],
  folder: string,
): Promise<Tarball[]> {
  await mkdir(folder, { recursive: true })
  const tarballs: Tarball[] = []
  for (const each of packages) {
    const packed = await runOrFail('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: join(root, 'dist', each.folder),
      env: plainNpmEnv(),
    })
    const report: unknown = JSON.parse(packed)
    const [entry] = (Array.isArray(report) ? report : Object.values(report as object)) as {
      filename: string
      name: string
      version: string
    }[]
    const { name, version, filename } = entry!
    tarballs.push({ name, version, file: join(folder, filename) })
  }
  return tarballs
}
