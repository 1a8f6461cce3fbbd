import type { Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** So many entries of a directory are looked at together. */
const batch = 64
/** In units of this many bytes file systems say what a file takes. */
const blockSize = 512

/** What a file or a directory with everything in it takes on the disk, in bytes. Links are not followed. */
export async function measureDisk(path: string, seen: Set<string> = new Set()): Promise<number> {
  const stat = await lstat(path).catch(() => undefined)
  if (!stat || isSeen(stat, seen)) return 0
  let sum = stat.blocks * blockSize
  if (!stat.isDirectory()) return sum
  const names = await readdir(path).catch(() => [])
  for (let at = 0; at < names.length; at += batch) {
    const sizes = names.slice(at, at + batch).map(name => measureDisk(join(path, name), seen))
    for (const size of await Promise.all(sizes)) sum += size
  }
  return sum
}

/** A file with several names counts once. */
function isSeen(stat: Stats, seen: Set<string>): boolean {
  if (stat.isDirectory() || stat.nlink < 2) return false
  const id = `${stat.dev} ${stat.ino}`
  if (seen.has(id)) return true
  seen.add(id)
  return false
}
