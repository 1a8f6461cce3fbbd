import type { Kind } from '@coxswain/apimachinery/kinds'
import { type ApiObject, type DeepReadonly, keyOf } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import type { OperatorClient } from './operator-client.ts'

/** Whether `object` has `finalizer`. */
export function hasFinalizer(object: DeepReadonly<ApiObject>, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false
}

/**
 * Adds `finalizer` to `object`, which cannot be deleted before it is removed. Fails with a conflict when the object has changed
 * since it was read: retry with a fresh one.
 */
export async function addFinalizer(
  client: OperatorClient,
  kind: Kind,
  object: DeepReadonly<ApiObject>,
  finalizer: string,
): Promise<void> {
  await addFinalizers(client, kind, { object, finalizers: [finalizer] })
}

/** Like {@link addFinalizer} for several, in one write. */
export async function addFinalizers(
  client: OperatorClient,
  kind: Kind,
  {
    object,
    finalizers,
  }: { readonly object: DeepReadonly<ApiObject>; readonly finalizers: readonly string[] },
): Promise<void> {
  const missing = finalizers.filter(finalizer => !hasFinalizer(object, finalizer))
  if (missing.length === 0) return
  await writeFinalizers(client, kind, object, [...(object.metadata.finalizers ?? []), ...missing])
}

/** Removes `finalizer` from `object`. Call it only when the clean-up is done. */
export async function removeFinalizer(
  client: OperatorClient,
  kind: Kind,
  object: DeepReadonly<ApiObject>,
  finalizer: string,
): Promise<void> {
  if (!hasFinalizer(object, finalizer)) return
  const remaining = (object.metadata.finalizers ?? []).filter(name => name !== finalizer)
  try {
    await writeFinalizers(client, kind, object, remaining)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** A compare-and-set by resourceVersion and uid: no other controller's finalizer can be lost. */
async function writeFinalizers(
  client: OperatorClient,
  kind: Kind,
  object: DeepReadonly<ApiObject>,
  finalizers: readonly string[],
): Promise<void> {
  const { resourceVersion, uid } = object.metadata
  await client.patch(
    kind,
    keyOf(object),
    { metadata: { finalizers, resourceVersion, uid } },
    { type: 'merge' },
  )
}
