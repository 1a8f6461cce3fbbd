const strict = new TextDecoder('utf-8', { fatal: true })

/**
 * Decodes a header value. Sockets deliver one character per byte, but user names are UTF-8. Invalid UTF-8 stays as
 * received.
 */
export function headerText(value: string): string {
  const isText = /^[\u0020-\u007e]*$/.test(value) || /[^\u0020-\u00ff]/.test(value)
  if (isText) return value
  try {
    return strict.decode(Uint8Array.from(value, character => character.charCodeAt(0)))
  } catch {
    return value
  }
}

/** The extra key in a header name: percent-decoded, or unchanged where it cannot be decoded. */
export function unescapeHeaderKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
