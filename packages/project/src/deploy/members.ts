import { isMachineryError } from '@coxswain/apimachinery/wire-format'
import { type DynamicKind, type DynamicObject, kindFor } from '@coxswain/client'
import { type ApplySet, type ApplySetContent, memberSelector } from './apply-set.ts'
import { callOptions, type DeployTarget } from './target.ts'

/** An object of the cluster, and the kind to call the API with. */
export interface FoundObject {
  readonly kind: DynamicKind
  readonly object: DynamicObject
}

/** The members of an ApplySet, kind by kind. Kinds that are no longer served have none. */
export async function listMembers(
  target: DeployTarget,
  set: ApplySet,
  content: ApplySetContent,
): Promise<FoundObject[]> {
  const call = { ...callOptions(target), labelSelector: memberSelector(set) }
  const members: FoundObject[] = []
  for (const groupKind of content.groupKinds) {
    const kind = await kindOfGroupKind(target, groupKind)
    if (!kind) continue
    for (const namespace of kind.namespaced ? content.namespaces : [undefined])
      for await (const object of target.client.listAll(kind, { ...call, ...(namespace && { namespace }) }))
        members.push({ kind, object })
  }
  return members
}

async function kindOfGroupKind(target: DeployTarget, groupKind: string): Promise<DynamicKind | undefined> {
  const [kind = '', ...rest] = groupKind.split('.')
  const mapper = await target.discovery.mapper(callOptions(target))
  try {
    const mapping = mapper.restMapping({ group: rest.join('.'), kind })
    const { resource, singular, namespaced } = mapping
    return kindFor({ ...mapping.kind, resource: resource.resource, singular, namespaced })
  } catch (error) {
    if (isMachineryError(error, 'NoMatch')) return undefined
    throw error
  }
}

/** Deletes an object, unless another has taken its name. */
export async function deleteFound(
  target: DeployTarget,
  { kind, object }: FoundObject,
  { dryRun }: { readonly dryRun: boolean },
): Promise<void> {
  const { name, namespace, uid } = object.metadata
  await target.client.delete(
    kind,
    { name, ...(namespace && { namespace }) },
    {
      ...callOptions(target),
      preconditions: { ...(uid && { uid }) },
      dryRun,
      propagationPolicy: 'Background',
    },
  )
}
