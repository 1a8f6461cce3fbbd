import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import type { FinalizerDefinition } from '../controller-builder.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from '../finalizer.ts'
import type { ReconcileContext, Reconciler } from '../reconcile.ts'

/**
 * A reconciler that adds the finalizer before it calls `reconcile`, and while the object is being deleted calls the
 * clean-up in its place, taking the finalizer off only when that has succeeded.
 */
export function withFinalizer(kind: Kind, finalizer: FinalizerDefinition, reconcile: Reconciler): Reconciler {
  const read = async ({ client, key }: ReconcileContext) =>
    (await client.get(kind, key)) as DeepReadonly<ApiObject> | undefined
  return async context => {
    const { client } = context
    const object = await read(context)
    if (!object?.metadata.deletionTimestamp) {
      if (object) await addFinalizer(client, kind, object, finalizer.name)
      return reconcile(context)
    }
    if (!hasFinalizer(object, finalizer.name)) return undefined
    const wait = await finalizer.cleanUp(context)
    if (wait) return wait
    const latest = await read(context)
    if (latest?.metadata.uid !== object.metadata.uid) return undefined
    await removeFinalizer(client, kind, latest, finalizer.name)
    return undefined
  }
}
