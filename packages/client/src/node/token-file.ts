import { readFile } from 'node:fs/promises'
import type { Clock } from '@coxswain/kit'
import { ClientError } from '../errors.ts'
import type { Credentials } from './credentials.ts'

/** Tokens in files are replaced while we run (service accounts: every hour or so). */
const rereadAfter = 60_000

/** A token that is read from its file again once a minute. While the file cannot be read the last token is used. */
export function tokenFromFile(path: string, clock: Clock): Credentials {
  let held: { readonly token: string; readonly readAt: number } | undefined
  const read = async (): Promise<string> => {
    try {
      const token = (await readFile(path, 'utf8')).trim()
      if (token === '') throw new Error('the file is empty')
      held = { token, readAt: clock.monotonic() }
      return token
    } catch (cause) {
      if (held) return held.token
      throw new ClientError('NoCredentials', `cannot read the token ${path}: ${(cause as Error).message}`, {
        cause,
      })
    }
  }
  return {
    async authorization() {
      const fresh = held && clock.monotonic() - held.readAt < rereadAfter
      return `Bearer ${fresh ? held!.token : await read()}`
    },
    async refresh() {
      const before = held?.token
      return (await read()) !== before
    },
  }
}
