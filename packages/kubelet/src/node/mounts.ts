import { closeSync, lstatSync, mkdirSync, openSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { VolumeMountSpec } from '../container-runtime.ts'
import { ConfigError } from '../kubelet/environment.ts'

export interface Links {
  /** The container's root directory. */
  readonly root: string
  readonly container: string
  readonly mounts: readonly VolumeMountSpec[]
  /** The location of a writable file of the container, by its path in the container. */
  readonly file: { readonly path: string; readonly target: string }
  volumePath(volume: string): string | undefined
}

/**
 * Mount paths for processes that share the machine's file system. Each container has a root directory in which every mount
 * path is a symbolic link to its volume; where a mount path occurs in a command, an argument, a variable or a working
 * directory, it is replaced by the path of the link.
 *
 *   /etc/config/app.yaml  ->  PODS/UID/containers/NAME/root/etc/config/app.yaml  ->  PODS/UID/volumes/config/app.yaml
 *
 * Containers can create links in volumes: nothing is created through links that lead out of the volume.
 * @throws ConfigError
 */
export function linkMounts({ root, container, mounts, file, volumePath }: Links): void {
  mkdirSync(root, { recursive: true })
  /** By mount path, without a slash at the end; the outer ones come first. */
  const places = new Map<string, string>()
  for (const mount of mounts.toSorted((a, b) => a.mountPath.length - b.mountPath.length)) {
    const { mountPath } = mount
    const target = locateVolume(mount, { container, volumePath })
    replaceLink(placeOf(mountPath, root, places), target, mountPath)
    places.set(trimEnd(mountPath), target)
  }
  rmSync(file.target, { force: true })
  closeSync(openSync(file.target, 'wx', 0o666))
  replaceLink(placeOf(file.path, root, places), file.target, file.path)
}

/**
 * Where the volume of a mount, or the part of it that is mounted, is on this machine; a missing subPath is created.
 * @throws ConfigError
 */
export function locateVolume(
  { volume, subPath }: VolumeMountSpec,
  { container, volumePath }: Pick<Links, 'container' | 'volumePath'>,
): string {
  const base = volumePath(volume)
  if (base === undefined) throw new ConfigError(`volume ${volume} is not mounted`)
  if (subPath === undefined) return base
  if (makeWithin(base, subPath)) return join(base, subPath)
  throw new ConfigError(`failed to prepare subPath for volumeMount "${volume}" of container "${container}"`)
}

/** The location of a path of the container: in its root, or in the volume that is mounted around it. */
function placeOf(path: string, root: string, places: ReadonlyMap<string, string>): string {
  const around = [...places.keys()].findLast(outer => path.startsWith(`${outer}/`))
  if (around === undefined) {
    const link = join(root, path)
    mkdirSync(dirname(link), { recursive: true })
    return link
  }
  const base = places.get(around)!
  const rest = trimEnd(path).slice(around.length + 1)
  const parent = dirname(rest) === '.' ? '' : dirname(rest)
  if (!makeWithin(base, parent))
    throw new ConfigError(`mount path ${path} leads out of the volume at ${around}`)
  return join(base, rest)
}

function replaceLink(link: string, target: string, path: string): void {
  const existing = lstatSync(link, { throwIfNoEntry: false })
  if (existing && !existing.isSymbolicLink())
    throw new ConfigError(
      `mount path ${path} already exists in the volume around it, which is not supported without namespaces`,
    )
  if (existing) rmSync(link)
  symlinkSync(target, link)
}

/** Creates the missing directories of a path. False when it, or a link in it, leads out of `base`. */
function makeWithin(base: string, path: string): boolean {
  let place: string
  try {
    const real = realpathSync(base)
    place = real
    for (const part of path.split('/').filter(name => name !== '' && name !== '.')) {
      if (part === '..') return false
      place = join(place, part)
      const found = lstatSync(place, { throwIfNoEntry: false })
      if (!found) mkdirSync(place)
      else if (found.isSymbolicLink()) place = realpathSync(place)
      if (place !== real && !place.startsWith(real === sep ? sep : real + sep)) return false
    }
    return true
  } catch {
    return false // a dangling link, or not a directory
  }
}

function trimEnd(path: string): string {
  return path.replace(/\/+$/, '')
}

/** A function that replaces mount paths, alone or as a prefix of a longer path, with the links' paths. */
export function createPathMapper(root: string, paths: readonly string[]): (text: string) => string {
  const alternatives = [...new Set(paths.map(trimEnd))]
    .filter(path => path !== '')
    .sort((a, b) => b.length - a.length)
    .map(path => path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  if (alternatives.length === 0) return text => text
  const pattern = new RegExp(`(?<![\\w./~-])(${alternatives.join('|')})(?![\\w.-])`, 'g')
  return text => text.replace(pattern, path => join(root, path))
}
