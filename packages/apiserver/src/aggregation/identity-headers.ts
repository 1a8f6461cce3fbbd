import { newInternalError } from '@coxswain/apimachinery/status'
import { encodeText } from '@coxswain/kit'
import type { UserInfo } from '../request/context.ts'

type Headers = Record<string, string | readonly string[]>

/**
 * Tells an extension API server on whose behalf a request is made. It trusts these headers because of the front proxy's client
 * certificate. The client's own must have been removed.
 */
export function setIdentity(headers: Headers, user: UserInfo): void {
  headers['x-remote-user'] = headerValue(user.name)
  if (user.uid) headers['x-remote-uid'] = headerValue(user.uid)
  if (user.groups.length > 0) headers['x-remote-group'] = user.groups.map(headerValue)
  for (const [key, values] of Object.entries(user.extra ?? {})) {
    const name = `x-remote-extra-${escapeKey(key)}`
    const present = headers[name]
    const before = present === undefined ? [] : [present].flat()
    headers[name] = [...before, ...values.map(headerValue)]
  }
}

/** UTF-8, one character for each byte, as header values are sent. */
function headerValue(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what no header may have
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(text))
    throw newInternalError(new Error('the identity of the user cannot be sent in a header'))
  return /^[ -~]*$/.test(text)
    ? text
    : Array.from(encodeText(text), byte => String.fromCharCode(byte)).join('')
}

/** Escapes what cannot be in the name of a header, and percent signs. Names of headers are compared in lower case. */
function escapeKey(key: string): string {
  return key
    .replace(/[^!#$&'*+\-.^_`|~0-9A-Za-z]/gu, character =>
      Array.from(encodeText(character), byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(
        '',
      ),
    )
    .toLowerCase()
}
