import { MachineryError } from '../errors.ts'
import { hasOwn, isPlainObject, type PlainObject } from '../json/plain.ts'
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
