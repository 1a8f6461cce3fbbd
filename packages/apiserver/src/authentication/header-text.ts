const strict = new TextDecoder('utf-8', { fatal: true })

/**
 * The text of a header. Sockets hand bytes over one character each; names of people are UTF-8. What is not stays as it
 * came.
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

/** The key of an extra in the name of a header: percent-encoded, and as it is where that cannot be undone. */
export function unescapeHeaderKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
