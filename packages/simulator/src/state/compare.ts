import type { Snapshot } from './snapshot.ts'

/** Where a state differs from the undisturbed one. */
export interface Difference {
  readonly object: string
  /** Undefined when the whole object is missing or too many. */
  readonly path: string | undefined
  readonly expected: string | undefined
  readonly actual: string | undefined
}

/** What may differ: the fields that already differ between undisturbed runs, and objects that only some of them have. */
export type Mask = ReadonlySet<string>

/** Learns from undisturbed runs what depends on chance alone. */
export function learnMask(snapshots: readonly Snapshot[]): Mask {
  const mask = new Set<string>()
  const [first, ...others] = snapshots
  for (const other of first ? others : []) {
    for (const { object, path } of compareSnapshots(first!, other, mask)) mask.add(maskKey(object, path))
  }
  return mask
}

const maskKey = (object: string, path: string | undefined): string => `${object}|${path ?? ''}`

export function compareSnapshots(expected: Snapshot, actual: Snapshot, mask: Mask): Difference[] {
  const differences: Difference[] = []
  const add = (difference: Difference) => {
    if (!mask.has(maskKey(difference.object, difference.path))) differences.push(difference)
  }
  for (const [object, fields] of expected) {
    const others = actual.get(object)
    if (!others) {
      add({ object, path: undefined, expected: 'exists', actual: undefined })
      continue
    }
    for (const [path, value] of fields) {
      const other = others.get(path)
      if (other !== value) add({ object, path, expected: value, actual: other })
    }
    for (const [path, value] of others) {
      if (!fields.has(path)) add({ object, path, expected: undefined, actual: value })
    }
  }
  for (const object of actual.keys()) {
    if (!expected.has(object)) add({ object, path: undefined, expected: undefined, actual: 'exists' })
  }
  return differences
}

/** The lines of a diff, `-` what an undisturbed run has, `+` what this one has. */
export function formatDifferences(differences: readonly Difference[], limit = 12): string[] {
  const lines: string[] = []
  for (const { object, path, expected, actual } of differences.slice(0, limit)) {
    const where = path === undefined ? object : `${object} ${path}`
    if (path === undefined) lines.push(expected === undefined ? `+ ${where}` : `- ${where}`)
    else {
      if (expected !== undefined) lines.push(`- ${where}: ${expected}`)
      if (actual !== undefined) lines.push(`+ ${where}: ${actual}`)
    }
  }
  if (differences.length > limit) lines.push(`  and ${differences.length - limit} more`)
  return lines
}
