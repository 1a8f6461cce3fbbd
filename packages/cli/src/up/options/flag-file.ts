import { readFileSync } from 'node:fs'
import { CommandError, explainSystemError } from '../../exit.ts'

/** The parsed content of a flag's file. Errors name the flag and the file, and never quote its content. */
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

/** PEM with certificates. */
export function readCertificates(text: string): string {
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new Error('data does not contain any certificate')
  return text
}

/** PEM with a private key. */
export function readPrivateKey(text: string): string {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) throw new Error('data does not contain a private key')
  return text
}
