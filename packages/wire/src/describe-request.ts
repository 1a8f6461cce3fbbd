import type { WireRequest } from './message.ts'

const longestText = 1_024

/** Which request it was, for logs. A client's text is cut off: a path may have a megabyte. */
export function describeRequest({ method, path }: WireRequest): {
  readonly method: string
  readonly path: string
} {
  return { method: method.slice(0, longestText), path: path.slice(0, longestText) }
}
