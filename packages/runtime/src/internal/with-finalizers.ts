import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import type { FinalizerDefinition } from '../controller-builder.ts'
import { addFinalizers, hasFinalizer, removeFinalizer } from '../finalizer.ts'
import type { ReconcileContext, ReconcileResult, Reconciler, Result } from '../reconcile.ts'

/**
 * A reconciler that adds the finalizers before it calls `reconcile`, and while the object is being deleted calls their
 * clean-ups in its place, one after the other. Each is removed when its own has succeeded; one that fails or waits does
 * not keep the others from being called.
 */
export function withFinalizers(
  kind: Kind,
  finalizers: readonly FinalizerDefinition[],
  reconcile: Reconciler,
): Reconciler {
  const added = finalizers.filter(({ onDemand }) => !onDemand).map(({ name }) => name)
  return async context => {
    const { client } = context
    const object = await read(kind, context)
    if (!object?.metadata.deletionTimestamp) {
      if (object) await addFinalizers(client, kind, { object, finalizers: added })
      return reconcile(context)
    }
    const errors: unknown[] = []
    let result: Result | undefined
    for (const finalizer of finalizers) {
      if (!hasFinalizer(object, finalizer.name)) continue
      try {
        const wait = await cleanUp(kind, finalizer, { context, uid: object.metadata.uid })
        if (wait && (!result || wait.requeueAfter < result.requeueAfter)) result = wait
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('; '))
    if (errors.length === 1) throw errors[0]
    return result
  }
}

/** The result of the clean-up, when it has to wait. */
async function cleanUp(
  kind: Kind,
  finalizer: FinalizerDefinition,
  { context, uid }: { readonly context: ReconcileContext; readonly uid: string },
): Promise<ReconcileResult> {
  const wait = await finalizer.cleanUp(context)
  if (wait) return wait
  const latest = await read(kind, context)
  if (latest?.metadata.uid === uid) await removeFinalizer(context.client, kind, latest, finalizer.name)
  return undefined
}

async function read(
  kind: Kind,
  { client, key }: ReconcileContext,
): Promise<DeepReadonly<ApiObject> | undefined> {
  return (await client.get(kind, key)) as DeepReadonly<ApiObject> | undefined
}
