/** The parts of a path; a backslash before a delimiter makes it part of a name. */
export function splitPath(path: string, delimiter: string): string[] {
  const parts = path.split(delimiter)
  if (parts.length > 1 && parts[0] === '') parts.shift()
  const result = [parts[0]!]
  for (const part of parts.slice(1)) {
    const last = result.length - 1
    if (result[last]!.endsWith('\\')) result[last] = result[last]!.slice(0, -1) + delimiter + part
    else result.push(part)
  }
  return result
}

/** As {@link splitPath}, with delimiters inside brackets as part of a name: `a.[b.c/d].e`. */
export function splitBracketedPath(path: string, delimiter: string): string[] {
  const parts = splitPath(path, delimiter)
  const result: string[] = []
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!
    if (!part.startsWith('[') || part.endsWith(']')) {
      result.push(part)
      continue
    }
    const bracketed = [part]
    while (at < parts.length - 1) {
      bracketed.push(parts[++at]!)
      if (parts[at]!.endsWith(']')) break
    }
    const joined = bracketed.join(delimiter)
    result.push(joined.includes('=') ? joined : joined.replace(/^[[\]]+|[[\]]+$/g, ''))
  }
  return result
}
