import { readFileSync } from 'node:fs'
import { CommandError, explainSystemError } from '../exit.ts'

/** What is in a file that a flag names. What goes wrong is told with the flag, never with the file's text. */
export function readFlagFile<T>(flag: string, file: string, read: (text: string) => T): T {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandError(`--${flag} ${file}: ${explainSystemError(error)}`, { cause: error })
  }
  try {
    return read(text)
  } catch (error) {
    throw new CommandError(`--${flag} ${file}: ${(error as Error).message}`, { cause: error })
  }
}
