import { percentDecode } from './percent.ts'

/**
 * A request path, split at `/` and each piece decoded once. The one parsed form that authorization and routing share:
 * nothing is resolved or collapsed, so a segment may be `..`, empty, or hold a `/` that was sent as `%2F`.
 */
export interface ParsedPath {
  /** Without the slashes at the front and at the end, as RequestInfo sees it. `/` has none. */
  readonly segments: readonly string[]
  readonly trailingSlash: boolean
  /** False when an escape is malformed or its bytes are not UTF-8. Such a path names nothing. */
  readonly valid: boolean
}

/** Reads `WireRequest.path`. Never throws. */
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
