import { deepEqual } from '@coxswain/apimachinery/json'
import type { JsonPatchOperation } from '@coxswain/apimachinery/patch'

/**
 * The JSON patch (RFC 6902) that turns `original` into `modified`. A member that is undefined counts as absent. Lists are
 * compared from both ends: insertions, removals and changes in the middle become just those operations.
 */
export function createJsonPatch(original: unknown, modified: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
  compare(original, modified, '', operations)
  return operations
}

type Members = Readonly<Record<string, unknown>>

function compare(before: unknown, after: unknown, path: string, operations: JsonPatchOperation[]): void {
  if (before === after) return
  if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, operations)
  else if (isMembers(before) && isMembers(after)) compareMembers(before, after, path, operations)
  else if (!deepEqual(before, after)) operations.push({ op: 'replace', path, value: after })
}

function compareMembers(
  before: Members,
  after: Members,
  path: string,
  operations: JsonPatchOperation[],
): void {
  for (const key of Object.keys(before)) {
    if (memberOf(before, key) === undefined) continue
    if (memberOf(after, key) === undefined)
      operations.push({ op: 'remove', path: `${path}/${escapeKey(key)}` })
  }
  for (const key of Object.keys(after)) {
    const value = memberOf(after, key)
    if (value === undefined) continue
    const at = `${path}/${escapeKey(key)}`
    const known = memberOf(before, key)
    if (known === undefined) operations.push({ op: 'add', path: at, value })
    else compare(known, value, at, operations)
  }
}

function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
  operations: JsonPatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && isSame(before[start], after[start])) start++
  let end = 0
  while (end < shorter - start && isSame(before.at(-1 - end), after.at(-1 - end))) end++
  const beforeEnd = before.length - end
  const afterEnd = after.length - end
  const common = Math.min(beforeEnd, afterEnd)
  for (let i = start; i < common; i++) compare(before[i], after[i], `${path}/${i}`, operations)
  // From the end, so that the remaining indexes stay valid.
  for (let i = beforeEnd - 1; i >= common; i--) operations.push({ op: 'remove', path: `${path}/${i}` })
  for (let i = common; i < afterEnd; i++)
    operations.push({ op: 'add', path: `${path}/${i}`, value: after[i] })
}

/** Equal as JSON. */
function isSame(before: unknown, after: unknown): boolean {
  const operations: JsonPatchOperation[] = []
  compare(before, after, '', operations)
  return operations.length === 0
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function memberOf(members: Members, key: string): unknown {
  return Object.hasOwn(members, key) ? members[key] : undefined
}

function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
