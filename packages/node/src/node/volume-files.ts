import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import type { PodVolume, VolumeFile } from '../container-runtime.ts'

/** Makes the directory of a volume what it has to be, and tells where it is. */
export function writeVolume(directory: string, volume: PodVolume): string {
  if (volume.type === 'host') {
    if (volume.create) mkdirSync(volume.path, { recursive: true })
    if (!existsSync(volume.path)) throw new Error(`hostPath ${volume.path} does not exist`)
    return volume.path
  }
  const path = join(directory, volume.name)
  mkdirSync(path, { recursive: true })
  if (volume.type === 'files') writeFiles(path, volume.files)
  return path
}

/** Each file is replaced in one step, and only when it differs; files that are no longer wanted go. */
function writeFiles(directory: string, files: ReadonlyMap<string, VolumeFile>): void {
  for (const [name, { data, mode }] of files) {
    const path = join(directory, name)
    if (relative(directory, path).startsWith('..')) throw new Error(`path ${name} leads out of its volume`)
    if (existsSync(path) && readFileSync(path).equals(data) && (statSync(path).mode & 0o777) === mode)
      continue
    mkdirSync(dirname(path), { recursive: true })
    const next = `${path}.next`
    writeFileSync(next, data)
    chmodSync(next, mode)
    renameSync(next, path)
  }
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    if (!files.has(relative(directory, path).split(sep).join('/'))) rmSync(path)
  }
}
