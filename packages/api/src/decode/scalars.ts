import { isMachineryError, MachineryError } from '@coxswain/apimachinery/errors'
import { canonicalizeMicroTime, canonicalizeTime } from '@coxswain/apimachinery/time'

/** A time in UTC with seconds, or with microseconds. Throws a MachineryError in the words of Go's parser. */
export function normalizeTime(text: string, micro: boolean): string {
  try {
    return micro
      ? (canonicalizeMicroTime(text) ?? '0001-01-01T00:00:00.000000Z')
      : (canonicalizeTime(text) ?? '0001-01-01T00:00:00Z')
  } catch (error) {
    if (!isMachineryError(error, 'BadTime')) throw error
    throw new MachineryError('BadJson', error.message, { cause: error })
  }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Standard base64 as Go reads it: line breaks are skipped, everything else must be in place. */
export function normalizeBase64(text: string): string {
  const body = /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, '') : text
  let end = body.length
  while (end > 0 && end > body.length - 2 && body[end - 1] === '=') end--
  for (let i = 0; i < end; i++) {
    if (!alphabet.includes(body[i]!))
      throw new MachineryError('BadJson', `illegal base64 data at input byte ${i}`)
  }
  if (body.length % 4 !== 0 || end % 4 === 1) {
    throw new MachineryError(
      'BadJson',
      `illegal base64 data at input byte ${body.length - (body.length % 4)}`,
    )
  }
  return body
}
