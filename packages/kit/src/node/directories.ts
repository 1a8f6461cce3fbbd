import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a directory and those above it that are missing. Returns those that it made, the outermost first. Unlike Node's own
 * recursive form it also ends where a file system takes no directories, as /proc.
 */
export function makeDirectories(path: string, mode = 0o777): string[] {
  const missing: string[] = []
  for (let at = resolve(path); !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.unshift(at)
  return missing.filter(directory => {
    try {
      mkdirSync(directory, { mode })
      return true
    } catch (error) {
      if ((error as { code?: string }).code === 'EEXIST') return false // another process was faster
      throw error
    }
  })
}
