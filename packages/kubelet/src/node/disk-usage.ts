import type { Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The number of directory entries that are read concurrently. */
const batch = 64
/** The block size in which file systems report usage. */
const blockSize = 512

/** The disk usage of a file or directory tree, in bytes. Symbolic links are not followed. */
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

/** A file with several hard links counts once. */
function isSeen(stat: Stats, seen: Set<string>): boolean {
  if (stat.isDirectory() || stat.nlink < 2) return false
  const id = `${stat.dev} ${stat.ino}`
  if (seen.has(id)) return true
  seen.add(id)
  return false
}
