import { MachineryError } from '../errors.ts'
import { getOwn, hasOwn, isPlainObject, type PlainObject } from '../json/plain.ts'
import { deepEqual, setMember } from '../json/value.ts'
import { checkDepth } from './depth.ts'

/** Parses a body as a merge patch of an API object. Throws `PatchUndecodable` unless it is a JSON object. */
export function decodeMergePatch(patch: unknown): PlainObject {
  checkDepth(patch)
  if (isPlainObject(patch)) return patch
  if (patch === null) throw new MachineryError('PatchUndecodable', 'Invalid JSON Patch')
  const kind = Array.isArray(patch) ? 'array' : typeof patch === 'boolean' ? 'bool' : typeof patch
  const message = `error decoding patch: json: cannot unmarshal ${kind === 'bigint' ? 'number' : kind}`
  throw new MachineryError('PatchUndecodable', `${message} into Go value of type map[string]interface {}`)
}

/**
 * `document` after a merge patch (RFC 7386). The result shares what did not change with both; neither is changed.
 * As in kube-apiserver, a value that replaces something other than an object loses its nulls inside of lists too.
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isPlainObject(document)) return withoutNulls(patch)
  if (!isPlainObject(patch)) return patch
  let result: PlainObject | undefined
  for (const key of Object.keys(patch)) {
    const change = patch[key]
    const present = hasOwn(document, key)
    if (change === null) {
      if (!present) continue
      result ??= { ...document }
      delete result[key]
      continue
    }
    const current = present ? document[key] : null
    const merged = current === null ? withoutNulls(change) : applyMergePatch(current, change)
    if (present && merged === current) continue
    result ??= { ...document }
    setMember(result, key, merged)
  }
  return result ?? document
}

/** `value` without null members of objects, at any depth; null items of lists stay. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) {
    let changed = false
    const items = value.map(item => {
      const kept = withoutNulls(item)
      if (kept !== item) changed = true
      return kept
    })
    return changed ? items : value
  }
  if (!isPlainObject(value)) return value
  let result: PlainObject | undefined
  for (const key of Object.keys(value)) {
    const item = value[key]
    const kept = item === null ? undefined : withoutNulls(item)
    if (kept === item) continue
    result ??= { ...value }
    if (kept === undefined) delete result[key]
    else setMember(result, key, kept)
  }
  return result ?? value
}

/** The merge patch from `original` to `modified`. A null in `modified` becomes a removal when it is applied. */
export function createMergePatch(original: PlainObject, modified: PlainObject): PlainObject {
  const patch: PlainObject = {}
  for (const key of Object.keys(modified)) {
    const after = modified[key]
    if (!hasOwn(original, key)) {
      setMember(patch, key, after)
      continue
    }
    const before = original[key]
    if (before === after) continue
    if (isPlainObject(before) && isPlainObject(after)) {
      const inner = createMergePatch(before, after)
      if (Object.keys(inner).length > 0) setMember(patch, key, inner)
    } else if (!deepEqual(before, after)) {
      setMember(patch, key, after)
    }
  }
  for (const key of Object.keys(original)) if (!hasOwn(modified, key)) setMember(patch, key, null)
  return patch
}

/**
 * What `kubectl apply` sends for a kind without strategic merge: everything in `modified` that is missing or different in
 * `current`, and a removal for what `original` (the last applied configuration) had and `modified` no longer has.
 */
export function createThreeWayJsonMergePatch(
  original: PlainObject,
  modified: PlainObject,
  current: PlainObject,
): PlainObject {
  const changes = additions(createMergePatch(current, modified))
  const deletions = removals(createMergePatch(original, modified))
  if (hasConflict(changes, deletions)) {
    throw new MachineryError('PatchConflict', 'the patch removes and sets the same field')
  }
  return applyMergePatch(deletions, changes) as PlainObject
}

function additions(patch: PlainObject): PlainObject {
  const kept: PlainObject = {}
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === null) continue
    if (isPlainObject(value) && Object.keys(value).length > 0) {
      const inner = additions(value)
      if (Object.keys(inner).length > 0) setMember(kept, key, inner)
    } else {
      setMember(kept, key, value)
    }
  }
  return kept
}

function removals(patch: PlainObject): PlainObject {
  const kept: PlainObject = {}
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === null) setMember(kept, key, null)
    else if (isPlainObject(value)) {
      const inner = removals(value)
      if (Object.keys(inner).length > 0) setMember(kept, key, inner)
    }
  }
  return kept
}

function hasConflict(left: unknown, right: unknown): boolean {
  if (!isPlainObject(left)) return !deepEqual(left, right)
  if (!isPlainObject(right)) return true
  return Object.keys(left).some(key => hasOwn(right, key) && hasConflict(left[key], getOwn(right, key)))
}
