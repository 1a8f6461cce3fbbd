import { readFileSync } from 'node:fs'
import { CommandError, explainSystemError } from '../exit.ts'

/** The content of a file that a flag names. Errors name the flag, and never show the file's text. */
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
