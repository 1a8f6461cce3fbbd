/** What a registry asks for in `WWW-Authenticate`. */
export interface Challenge {
  readonly scheme: 'bearer' | 'basic'
  readonly realm?: string
  readonly service?: string
  readonly scope?: string
}

/** The longest header that is read. */
const longest = 8192

/** Reads the first challenge that is understood; undefined when there is none. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  const text = (header ?? '').slice(0, longest)
  const scheme = /^\s*(bearer|basic)\b/i.exec(text)?.[1]?.toLowerCase()
  if (scheme !== 'bearer' && scheme !== 'basic') return undefined
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, plain] of text.matchAll(
    /\b(realm|service|scope)=(?:"([^"]*)"|([^\s,"]+))/gi,
  ))
    parameters.set(name.toLowerCase(), quoted ?? plain ?? '')
  return { scheme, ...Object.fromEntries(parameters) }
}
