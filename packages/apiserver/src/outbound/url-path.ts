import { parsePath } from '@coxswain/wire'

/** Resolves `.` and `..` and collapses slashes, without leaving the root. A trailing slash stays. */
export function cleanPath(path: string): string {
  const kept: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  const clean = `/${kept.join('/')}`
  return path.endsWith('/') && clean !== '/' ? `${clean}/` : clean
}

/** Encodes a decoded path as Go's `url.URL` does: upstream's backends always receive this form. */
export function encodePath(path: string): string {
  return encodeURIComponent(path)
    .replace(/%(2F|24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
    .replace(/[!'()*]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The path of a URL, with its query if any, as Go's REST client sends it: absolute, clean, without a trailing slash. */
export function cleanUrlPath(url: string): string {
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  return encodePath(cleanPath(`${parsePath(path).segments.join('/')}/.`)) + url.slice(path.length)
}
