import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { VolumeMountSpec } from '../container-runtime.ts'

/**
 * Mount paths for processes that share the machine's file system. Each container has a root folder in which every mount
 * path is a symbolic link to its volume; where a mount path stands in a command, an argument, a variable or a working
 * directory, it is replaced by the path of the link.
 *
 *   /etc/config/app.yaml  ->  PODS/UID/containers/NAME/root/etc/config/app.yaml  ->  PODS/UID/volumes/config/app.yaml
 */
export function linkMounts(
  root: string,
  mounts: readonly VolumeMountSpec[],
  volumePath: (volume: string) => string | undefined,
): void {
  mkdirSync(root, { recursive: true })
  // Outer ones first: what is mounted inside another volume is linked there.
  for (const { volume, mountPath, subPath } of [...mounts].sort(
    (a, b) => a.mountPath.length - b.mountPath.length,
  )) {
    const base = volumePath(volume)
    if (base === undefined) throw new Error(`volume ${volume} is not there`)
    const target = subPath === undefined ? base : join(base, subPath)
    if (subPath !== undefined && !existsSync(target)) mkdirSync(target, { recursive: true })
    const link = join(root, mountPath)
    mkdirSync(dirname(link), { recursive: true })
    replaceLink(link, target)
  }
}

/** Links a file that the container may write to. */
export function linkFile(root: string, path: string, target: string): void {
  writeFileSync(target, '')
  const link = join(root, path)
  mkdirSync(dirname(link), { recursive: true })
  replaceLink(link, target)
}

function replaceLink(link: string, target: string): void {
  const existing = lstatSync(link, { throwIfNoEntry: false })
  if (existing && !existing.isSymbolicLink()) return
  if (existing) rmSync(link)
  symlinkSync(target, link)
}

/** A function that puts the links' paths in place of mount paths that stand alone or begin a longer path. */
export function createPathMapper(root: string, paths: readonly string[]): (text: string) => string {
  const alternatives = [...new Set(paths.map(path => path.replace(/\/+$/, '')))]
    .filter(path => path !== '')
    .sort((a, b) => b.length - a.length)
    .map(path => path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  if (alternatives.length === 0) return text => text
  const pattern = new RegExp(`(?<![\\w./~-])(${alternatives.join('|')})(?![\\w.-])`, 'g')
  return text => text.replace(pattern, path => join(root, path))
}
