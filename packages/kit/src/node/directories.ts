import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates a directory and its missing parents. Returns those that it created, the outermost first. Unlike Node's recursive option
 * it also terminates where a file system does not support directories, such as /proc.
 */
export function makeDirectories(path: string, mode = 0o777): string[] {
  const missing: string[] = []
  for (let at = resolve(path); !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.unshift(at)
  return missing.filter(directory => {
    try {
      mkdirSync(directory, { mode })
      return true
    } catch (error) {
      if ((error as { code?: string }).code === 'EEXIST') return false // created by another process meanwhile
      throw error
    }
  })
}
