import { deepClone, isObject, type JsonObject, readJson, writeJson } from '@coxswain/apimachinery/json'
import { applyJsonPatch, decodeJsonPatch } from '@coxswain/apimachinery/patch'
import { jsonPatch, mergePatch } from '../registry/media-types.ts'
import type { Endpoint } from '../registry/registry.ts'

/**
 * The result of a patch, as messages quote it: objects that the patch changes or adds have sorted members, all
 * others have them in the order of their Go types. `patched` is the result for patches of other types.
 */
export function patchedText(
  endpoint: Endpoint,
  { type, body }: { readonly type: string; readonly body: Uint8Array },
  { current, patched }: { readonly current: JsonObject; readonly patched: JsonObject },
): string {
  const base = endpoint.resource.typed(endpoint, deepClone(current) as JsonObject)
  const { value } = readJson(body)
  if (type === mergePatch && isObject(value)) return writeJson(merge(base, value))
  if (type !== jsonPatch) return writeJson(patched)
  const operations = decodeJsonPatch(value)
  const paths = (value as { path?: string }[]).map(({ path = '' }) => path.split('/').slice(1))
  return writeJson(sortAlong(applyJsonPatch(base, operations), paths))
}

const byName = ([one]: [string, unknown], [other]: [string, unknown]): number => (one < other ? -1 : 1)

function merge(base: unknown, patch: JsonObject): JsonObject {
  const source = isObject(base) ? base : {}
  const members = Object.entries({ ...source, ...patch }).flatMap(([key, value]): [string, unknown][] => {
    if (!Object.hasOwn(patch, key)) return [[key, value]]
    if (value === null) return []
    return [[key, isObject(value) ? merge(source[key], value) : sortDeep(value)]]
  })
  return Object.fromEntries(members.sort(byName))
}

function sortDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortDeep)
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([key, member]): [string, unknown] => [key, sortDeep(member)])
  return Object.fromEntries(members.sort(byName))
}

/** The value with sorted members in the objects on the way to one of the paths. */
function sortAlong(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.length === 0 || typeof value !== 'object' || value === null) return value
  const below = (name: string) =>
    paths.filter(([first, ...rest]) => first === name && rest.length > 0).map(([, ...rest]) => rest)
  if (Array.isArray(value)) return value.map((item, index) => sortAlong(item, below(String(index))))
  const members = Object.entries(value as JsonObject).map(([key, member]): [string, unknown] => [
    key,
    sortAlong(member, below(escapePointer(key))),
  ])
  return Object.fromEntries(members.sort(byName))
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
