import {
  emptyFieldSet,
  type FieldSet,
  isMember,
  nodeOf,
  recursiveDifference,
  setAt,
  union,
} from './field-set.ts'
import type { PathElement } from './path-element.ts'

/**
 * Fields that a request cannot change and therefore never owns: all of `reset`, or all but `only`. Paths are dotted
 * field names; `*` matches any one step, such as an element of a list (`spec.containers.*.resources`).
 */
export interface ResetFields {
  readonly reset?: readonly string[]
  readonly only?: readonly string[]
}

/** A function that takes those fields out of a set. */
export function createResetFilter(fields: ResetFields | undefined): (set: FieldSet) => FieldSet {
  if (fields?.only !== undefined) {
    const patterns = fields.only.map(path => path.split('.'))
    return set => keepMatches(set, patterns)
  }
  const reset = (fields?.reset ?? []).reduce(
    (set, path) => union(set, setAt(path.split('.').map(name => `f:${name}`))),
    emptyFieldSet,
  )
  return reset === emptyFieldSet ? set => set : set => recursiveDifference(set, reset)
}

function keepMatches(set: FieldSet, patterns: readonly (readonly string[])[]): FieldSet {
  const out: Record<PathElement, FieldSet> = {}
  for (const element in set) {
    if (element === '.') continue
    const node = set[element]!
    const matching = patterns.filter(([first]) => first === '*' || `f:${first}` === element)
    if (matching.length === 0) continue
    const rest = matching.map(pattern => pattern.slice(1))
    const isWhole = rest.some(pattern => pattern.length === 0)
    const kept = isWhole ? node : nodeOf(keepMatches(node, rest), isMember(node))
    if (kept !== undefined) out[element] = kept
  }
  return out
}
