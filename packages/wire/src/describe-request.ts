import type { WireRequest } from './message.ts'

const longestText = 1_024

/** Identifies a request in logs. Client text is truncated: a path may have a megabyte. */
export function describeRequest({ method, path }: WireRequest): {
  readonly method: string
  readonly path: string
} {
  return { method: method.slice(0, longestText), path: path.slice(0, longestText) }
}
