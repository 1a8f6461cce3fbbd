import { percentDecode } from './percent.ts'

/**
 * A request path, split at `/` with each segment decoded once. Authorization and routing share this parsed form:
 * nothing is resolved or collapsed, so a segment may be `..`, empty, or contain a `/` that was sent as `%2F`.
 */
export interface ParsedPath {
  /** Without leading and trailing slashes, as in RequestInfo. `/` has none. */
  readonly segments: readonly string[]
  readonly trailingSlash: boolean
  /** False when an escape is malformed or its bytes are not UTF-8. Such a path matches nothing. */
  readonly valid: boolean
}

/** Parses `WireRequest.path`. Never throws. */
export function parsePath(path: string): ParsedPath {
  let start = 0
  let end = path.length
  while (start < end && path.charCodeAt(start) === 0x2f) start++
  while (end > start && path.charCodeAt(end - 1) === 0x2f) end--
  const trailingSlash = end < path.length
  if (start === end) return { segments: [], trailingSlash, valid: true }
  const segments = path.slice(start, end).split('/')
  if (!path.includes('%')) return { segments, trailingSlash, valid: true }
  let valid = true
  const decoded = segments.map(segment => {
    const result = percentDecode(segment)
    if (!result?.utf8) valid = false
    return result?.text ?? segment
  })
  return { segments: decoded, trailingSlash, valid }
}
