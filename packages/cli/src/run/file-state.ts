import { statSync } from 'node:fs'

/** What tells one version of a file from another; empty for a file that is not there. */
export function stateOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return ''
  }
}
