import { Pod, type PodTemplateSpec } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import { isNotFound, isStatusError } from '@coxswain/apimachinery/status'
import { controllerReference, type PodView } from '@coxswain/kinds'
import type { ReconcileContext } from '@coxswain/runtime'

export type Owner = DeepReadonly<ApiObject>

export interface PodOwner {
  readonly kind: Kind
  readonly object: Owner
}

/** A pod from a template. Without a name its name is generated from the owner's. */
export function podFromTemplate(
  { kind, object }: PodOwner,
  template: DeepReadonly<PodTemplateSpec>,
  name?: string,
): DeepReadonly<Pod> {
  const { labels, annotations, finalizers } = template.metadata ?? {}
  const pod = {
    metadata: {
      generateName: `${object.metadata.name}-`,
      ...(name !== undefined && { name }),
      namespace: object.metadata.namespace,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [controllerReference(kind, object)],
    },
    spec: template.spec,
  }
  return pod as unknown as DeepReadonly<Pod> // the server sets the defaults
}

type Tools = Pick<ReconcileContext, 'client' | 'events'>

/** Creates a pod and records an event on its owner. */
export async function createPod(
  { client, events }: Tools,
  { object }: PodOwner,
  pod: PodView,
): Promise<PodView> {
  try {
    const made = await client.create(Pod, pod)
    events.normal(object, 'SuccessfulCreate', `Created pod: ${made.metadata.name}`)
    return made
  } catch (error) {
    if (!isNamespaceTerminating(error))
      events.warning(object, 'FailedCreate', `Error creating: ${(error as Error).message}`)
    throw error
  }
}

/** Deletes a pod and records an event; ignores one that is already deleted. */
export async function deletePod(
  { client, events }: Tools,
  { object }: PodOwner,
  pod: PodView,
): Promise<void> {
  const { namespace = '', name, uid } = pod.metadata
  try {
    await client.delete(Pod, { namespace, name }, { preconditions: { uid } })
    events.normal(object, 'SuccessfulDelete', `Deleted pod: ${name}`)
  } catch (error) {
    if (isNotFound(error)) return
    events.warning(object, 'FailedDelete', `Error deleting: ${(error as Error).message}`)
    throw error
  }
}

/** Creating an object in a terminating namespace fails; this is neither reported nor retried. */
export function isNamespaceTerminating(error: unknown): boolean {
  return (
    isStatusError(error) &&
    (error.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating')
  )
}
