import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { PodVolume, VolumeFile } from '../container-runtime.ts'

type HostVolume = PodVolume & { type: 'host' }

/** The last content of volumes of type `files`, by their directories. */
export type WrittenFiles = Map<string, string>

/** Creates or updates the directory of a volume, and returns its path. */
export function writeVolume(directory: string, volume: PodVolume, written: WrittenFiles): string {
  if (volume.type === 'host') {
    checkHostPath(volume)
    return volume.path
  }
  const path = join(directory, volume.name)
  const existing = lstatSync(path, { throwIfNoEntry: false })
  if (existing && !existing.isDirectory()) rmSync(path, { force: true })
  mkdirSync(path, { recursive: true })
  if (volume.type === 'files') writeFiles(path, volume.files, written)
  // World-writable, since containers may run as any user.
  else if (!existing) chmodSync(path, 0o777)
  return path
}

const checks: Readonly<Record<string, readonly [is: (stat: Stats) => boolean, name: string]>> = {
  Directory: [stat => stat.isDirectory(), 'directory'],
  DirectoryOrCreate: [stat => stat.isDirectory(), 'directory'],
  File: [stat => stat.isFile(), 'file'],
  FileOrCreate: [stat => stat.isFile(), 'file'],
  Socket: [stat => stat.isSocket(), 'socket file'],
  CharDevice: [stat => stat.isCharacterDevice(), 'character device'],
  BlockDevice: [stat => stat.isBlockDevice(), 'block device'],
}

/** A missing path without a type is created as a directory, as container runtimes do. */
function checkHostPath({ path, hostPathType }: HostVolume): void {
  let found = statSync(path, { throwIfNoEntry: false })
  if (!found && (hostPathType === '' || hostPathType === 'DirectoryOrCreate'))
    mkdirSync(path, { recursive: true, mode: 0o755 })
  else if (!found && hostPathType === 'FileOrCreate') closeSync(openSync(path, 'wx', 0o644))
  found ??= statSync(path, { throwIfNoEntry: false })
  if (hostPathType === 'Existing' && !found) throw new Error(`path "${path}" does not exist`)
  const check = checks[hostPathType]
  if (check && !(found && check[0](found)))
    throw new Error(`hostPath type check failed: ${path} is not a ${check[1]}`)
}

/**
 * All files change atomically, as with the kubelet, so that no reader sees a mix of old and new files:
 *
 *   config.yaml -> ..data/config.yaml     ..data -> ..2026_01_02_03_04_05.XXXXXX     (a directory)
 *
 * Nothing that containers could have replaced is read.
 */
function writeFiles(directory: string, files: ReadonlyMap<string, VolumeFile>, written: WrittenFiles): void {
  const digest = digestOf(files)
  const data = join(directory, '..data')
  const isThere = lstatSync(data, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  if (isThere && written.get(directory) === digest) return
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:T]/g, '_')
  const next = mkdtempSync(join(directory, `..${stamp}.`))
  chmodSync(next, 0o755)
  for (const [name, file] of files) writeFile(next, name, file)
  const old = isThere ? readlinkSync(data) : undefined
  const link = join(directory, '..data_tmp')
  rmSync(link, { recursive: true, force: true })
  symlinkSync(basename(next), link)
  if (!isThere) rmSync(data, { recursive: true, force: true })
  renameSync(link, data)
  const names = new Set([...files.keys()].map(name => name.split('/', 1)[0]!))
  for (const name of names) {
    const path = join(directory, name)
    const existing = lstatSync(path, { throwIfNoEntry: false })
    if (existing?.isSymbolicLink() && readlinkSync(path) === `..data/${name}`) continue
    if (existing) rmSync(path, { recursive: true, force: true })
    symlinkSync(`..data/${name}`, path)
  }
  for (const { name } of readdirSync(directory, { withFileTypes: true }).filter(entry =>
    entry.isSymbolicLink(),
  )) {
    const path = join(directory, name)
    if (!names.has(name) && readlinkSync(path) === `..data/${name}`) rmSync(path, { force: true })
  }
  if (old !== undefined && /^\.\.\d{4}_[^/]+$/.test(old))
    rmSync(join(directory, old), { recursive: true, force: true })
  written.set(directory, digest)
}

function writeFile(directory: string, name: string, { data, mode, owner }: VolumeFile): void {
  const path = join(directory, name)
  if (relative(directory, path).startsWith('..')) throw new Error(`path ${name} leads out of its volume`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, data, { flag: 'wx', mode: 0o600 })
  chmodSync(path, mode)
  if (owner !== undefined && process.getuid?.() === 0) chownSync(path, owner, statSync(path).gid)
}

function digestOf(files: ReadonlyMap<string, VolumeFile>): string {
  const hash = createHash('sha256')
  for (const [name, { data, mode, owner = '' }] of files)
    hash.update(`${name}\0${mode} ${owner} ${data.length}\0`).update(data)
  return hash.digest('hex')
}
