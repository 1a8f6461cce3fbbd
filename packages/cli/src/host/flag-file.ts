import { closeSync, openSync, readSync } from 'node:fs'
import { CommandError, explainSystemError } from '../exit.ts'

/** The largest file that a flag may name, in MiB: a device or an endless pipe is a mistake. */
const mostMebibytes = 16
const mostBytes = mostMebibytes * 1024 ** 2

/** The content of a file that a flag names. Errors name the flag, and never show the file's text. */
export function readFlagFile<T>(flag: string, file: string, read: (text: string) => T): T {
  let text: string
  try {
    text = readBoundedFile(file)
  } catch (error) {
    throw new CommandError(`--${flag} ${file}: ${explainSystemError(error)}`, { cause: error })
  }
  try {
    return read(text)
  } catch (error) {
    throw new CommandError(`--${flag} ${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** The text of a file that a flag, or a file that a flag names, leads to. Reads until the end, since the size of a pipe is not known before. */
export function readBoundedFile(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    const chunks: Buffer[] = []
    let size = 0
    for (;;) {
      const chunk = Buffer.allocUnsafe(65_536)
      const count = readSync(descriptor, chunk)
      if (count === 0) return Buffer.concat(chunks).toString('utf8')
      size += count
      if (size > mostBytes) throw new Error(`is larger than ${mostMebibytes} MiB`)
      chunks.push(chunk.subarray(0, count))
    }
  } finally {
    closeSync(descriptor)
  }
}
