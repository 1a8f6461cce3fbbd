import { MachineryError } from '@coxswain/apimachinery'

const timePattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/

/** A time in UTC with seconds, or with microseconds. Throws a MachineryError in the words of Go's parser. */
export function normalizeTime(text: string, micro: boolean): string {
  const match = timePattern.exec(text)
  const ms = match ? Date.parse(`${text.slice(0, 19)}${match[8] === 'Z' ? 'Z' : match[8]}`) : Number.NaN
  if (!match || Number.isNaN(ms)) {
    const layout = micro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00'
    const quoted = JSON.stringify(text)
    throw new MachineryError(
      'BadJson',
      `parsing time ${quoted} as ${JSON.stringify(layout)}: cannot parse ${quoted} as "2006"`,
    )
  }
  const seconds = new Date(ms).toISOString().slice(0, 19)
  return micro ? `${seconds}.${(match[7] ?? '').slice(0, 6).padEnd(6, '0')}Z` : `${seconds}Z`
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
