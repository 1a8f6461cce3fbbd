import { type Library, overload } from '../functions.ts'
import { opaqueOf } from '../types.ts'
import { EntryMap, fault, ListValue, type MapKey, type OpaqueValue, type Value } from '../values.ts'

export const urlType: ReturnType<typeof opaqueOf> = opaqueOf('kubernetes.URL')

/** The parts of a URL as Go's net/url reads them, which is not what the WHATWG URL does. */
export class UrlValue implements OpaqueValue {
  readonly celType: typeof urlType = urlType
  readonly text: string
  readonly scheme: string
  readonly host: string
  readonly path: string
  readonly query: string
  constructor(parts: { text: string; scheme: string; host: string; path: string; query: string }) {
    this.text = parts.text
    this.scheme = parts.scheme
    this.host = parts.host
    this.path = parts.path
    this.query = parts.query
  }
  equals(other: Value): boolean {
    return other instanceof UrlValue && this.text === other.text
  }
}

/** Go's url.ParseRequestURI, then the parts without the fragment; or its complaint. */
export function parseRequestUri(text: string): UrlValue | string {
  const bad = (problem: string): string => `parse ${JSON.stringify(text)}: ${problem}`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (/[\x00-\x1f\x7f]/.test(text)) return bad('net/url: invalid control character in URL')
  if (text === '') return bad('empty url')
  if (text === '*') return new UrlValue({ text, scheme: '', host: '', path: '*', query: '' })
  const scheme = readScheme(text)
  if (scheme === undefined) return bad('missing protocol scheme')
  if (scheme === null) return bad('first path segment in URL cannot contain colon')
  const rest = text.slice(scheme === '' ? 0 : scheme.length + 1)
  if (!rest.startsWith('/')) {
    if (scheme === '') return bad('invalid URI for request')
    // An opaque URL, such as mailto:someone.
    return new UrlValue({ text, scheme: scheme.toLowerCase(), host: '', path: '', query: '' })
  }
  return readHierarchy(text, scheme.toLowerCase(), rest, bad)
}

function readHierarchy(
  text: string,
  scheme: string,
  rest: string,
  bad: (problem: string) => string,
): UrlValue | string {
  const fragment = rest.indexOf('#')
  const body = fragment < 0 ? rest : rest.slice(0, fragment)
  const mark = body.indexOf('?')
  const query = mark < 0 ? '' : body.slice(mark + 1)
  let path = mark < 0 ? body : body.slice(0, mark)
  let host = ''
  if (path.startsWith('//') && (scheme !== '' || !path.startsWith('///'))) {
    const end = path.indexOf('/', 2)
    const authority = end < 0 ? path.slice(2) : path.slice(2, end)
    path = end < 0 ? '' : path.slice(end)
    const read = readAuthority(authority)
    if (typeof read !== 'object') return bad(read)
    host = read.host
  }
  const broken = badEscape(path)
  if (broken !== undefined) return bad(`invalid URL escape "${broken}"`)
  return new UrlValue({ text, scheme, host, path: escapePath(path), query })
}

/** The scheme, '' for none, undefined for an empty one. */
function readScheme(text: string): string | undefined | null {
  const found = /^([a-zA-Z][a-zA-Z0-9+\-.]*):/.exec(text)
  if (found !== null) return found[1]
  if (text.startsWith(':')) return undefined
  return ''
}

function readAuthority(authority: string): { host: string } | string {
  const at = authority.lastIndexOf('@')
  const host = authority.slice(at + 1)
  if (host.startsWith('[')) {
    const close = host.lastIndexOf(']')
    if (close < 0) return "missing ']' in host"
    return checkPort(host, host.slice(close + 1))
  }
  const broken = badEscape(host)
  if (broken !== undefined) return `invalid URL escape "${broken}"`
  const odd = /[ "<>\\^`{|}]/.exec(host)
  if (odd !== null) return `invalid character ${JSON.stringify(odd[0])} in host name`
  const colon = host.lastIndexOf(':')
  return checkPort(host, colon < 0 ? '' : host.slice(colon))
}

function checkPort(host: string, port: string): { host: string } | string {
  return port === '' || /^:\d*$/.test(port) ? { host } : `invalid port ${JSON.stringify(port)} after host`
}

function badEscape(text: string): string | undefined {
  const found = /%(?![0-9a-fA-F]{2})/.exec(text)
  return found === null ? undefined : text.slice(found.index, found.index + 3)
}

/** What Go leaves as it is in a path. */
function escapePath(path: string): string {
  return path.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@!'()*%[\]]/gu, c =>
    [...new TextEncoder().encode(c)].map(b => `%${b.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
}

function hostname(host: string): string {
  if (host.startsWith('[')) return host.slice(1, host.lastIndexOf(']'))
  const colon = host.lastIndexOf(':')
  return colon < 0 ? host : host.slice(0, colon)
}

function port(host: string): string {
  const found = /:(\d*)$/.exec(host.slice(host.lastIndexOf(']') + 1))
  return found?.[1] ?? ''
}

/** Pairs with a bad escape or a semicolon are left out, as Go's Query does. */
function queryMap(query: string): Value {
  const lists = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';') || badEscape(pair) !== undefined) continue
    const equal = pair.indexOf('=')
    const [key, value] = (equal < 0 ? [pair, ''] : [pair.slice(0, equal), pair.slice(equal + 1)]).map(
      unescapeQuery,
    )
    const list = lists.get(key as string)
    if (list === undefined) lists.set(key as string, [value as string])
    else list.push(value as string)
  }
  const entries = new Map<MapKey, readonly [Value, Value]>()
  for (const [key, values] of lists) entries.set(key, [key, new ListValue(values)])
  return new EntryMap(entries)
}

function unescapeQuery(text: string): string {
  const bytes: number[] = []
  const plain = text.replaceAll('+', ' ')
  for (const found of plain.matchAll(/%([0-9a-fA-F]{2})|[^%]+/g)) {
    if (found[1] !== undefined) bytes.push(Number.parseInt(found[1], 16))
    else for (const item of new TextEncoder().encode(found[0])) bytes.push(item)
  }
  return new TextDecoder().decode(Uint8Array.from(bytes))
}

function toUrl(text: string): UrlValue {
  const read = parseRequestUri(text)
  return typeof read === 'string' ? fault(`URL parse error during conversion from string: ${read}`) : read
}

export const urlLibrary: Library = {
  name: 'kubernetes.urls',
  types: [urlType],
  overloads: [
    overload('string_to_url', 'url(string): kubernetes.URL', toUrl),
    overload('url_get_scheme', 'getScheme(this kubernetes.URL): string', (u: UrlValue) => u.scheme),
    overload('url_get_host', 'getHost(this kubernetes.URL): string', (u: UrlValue) => u.host),
    overload('url_get_hostname', 'getHostname(this kubernetes.URL): string', (u: UrlValue) =>
      hostname(u.host),
    ),
    overload('url_get_port', 'getPort(this kubernetes.URL): string', (u: UrlValue) => port(u.host)),
    overload('url_get_escaped_path', 'getEscapedPath(this kubernetes.URL): string', (u: UrlValue) => u.path),
    overload('url_get_query', 'getQuery(this kubernetes.URL): map<string, list<string>>', (u: UrlValue) =>
      queryMap(u.query),
    ),
    overload(
      'is_url_string',
      'isURL(string): bool',
      (text: string) => typeof parseRequestUri(text) !== 'string',
    ),
  ],
}
