import { existsSync } from 'node:fs'
import { CommandError } from '../exit.ts'

/** Throws for the first file that is not there. */
export function refuseAbsent(files: readonly string[]): void {
  const absent = files.find(file => !existsSync(file))
  if (absent !== undefined) throw new CommandError(`operator cannot be loaded: ${absent}: does not exist`)
}
