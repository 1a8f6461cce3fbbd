import { createMergePatch, keyOf } from '@coxswain/apimachinery/wire-format'
import type { ObjectClient, PatchMethods } from './client.ts'

/** `patchFrom` and `patchStatus` in terms of a client's `patch`. */
export function patchMethods(clientOf: () => Pick<ObjectClient, 'patch'>): PatchMethods {
  const patchFrom: PatchMethods['patchFrom'] = async (kind, change, options = {}) => {
    const { optimisticLock = false, ...sent } = options
    const difference = mergePatchBetween(change.old, change.new)
    if (!difference) return change.old
    const { resourceVersion } = change.old.metadata
    const body = optimisticLock ? withVersion(difference, resourceVersion) : difference
    return clientOf().patch(kind, keyOf(change.old), body, { ...sent, type: 'merge' })
  }
  return {
    patchFrom,
    async patchStatus(kind, object, status) {
      const { status: before = {} } = object as { status?: object }
      const difference = mergePatchBetween(before, { ...before, ...status })
      if (!difference) return object
      return clientOf().patch(
        kind,
        keyOf(object),
        { status: difference },
        { type: 'merge', subresource: 'status' },
      )
    },
  }
}

/** The merge patch that leads from `old` to `changed`; undefined when they are equal. A member that is undefined is absent. */
export function mergePatchBetween(old: object, changed: object): Record<string, unknown> | undefined {
  const patch = createMergePatch(
    withoutUndefined(old) as Record<string, unknown>,
    withoutUndefined(changed) as Record<string, unknown>,
  )
  return Object.keys(patch).length === 0 ? undefined : patch
}

function withVersion(patch: Record<string, unknown>, resourceVersion: string): object {
  return { ...patch, metadata: { ...(patch.metadata as object | undefined), resourceVersion } }
}

/** `value` as JSON would carry it; shares what has nothing undefined in it. */
function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(withoutUndefined)
    return items.every((item, index) => item === value[index]) ? value : items
  }
  let copy: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(value)) {
    const kept = withoutUndefined(member)
    if (kept === member && kept !== undefined) continue
    copy ??= { ...value }
    if (kept === undefined) delete copy[name]
    else copy[name] = kept
  }
  return copy ?? value
}
