import { Pod } from '@coxswain/api/core/v1'
import { isAlreadyExists } from '@coxswain/apimachinery/status'
import type { PodView } from '@coxswain/kinds'
import type { ReconcileContext } from '@coxswain/runtime'
import { areClaimsOwned, createClaims, type Member, ownClaims } from './claims.ts'
import { hasIdentity, hasStorage, labelsOf, type StatefulSetView, volumesOf } from './identity.ts'

type Tools = Pick<ReconcileContext, 'client' | 'events'>
type Verb = 'Create' | 'Update' | 'Delete'

function recordEvent(
  { events }: Tools,
  set: StatefulSetView,
  verb: Verb,
  { metadata }: PodView,
  error?: unknown,
): void {
  const what = `${verb} Pod ${metadata.name} in StatefulSet ${set.metadata.name}`
  if (error === undefined) events.normal(set, `Successful${verb}`, `${what} successful`)
  else events.warning(set, `Failed${verb}`, `${what} failed error: ${(error as Error).message}`)
}

/** Runs `action` and records an event if it fails. */
async function attempt<T>(
  tools: Tools,
  set: StatefulSetView,
  subject: { readonly verb: Verb; readonly pod: PodView },
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (!(subject.verb === 'Create' && isAlreadyExists(error)))
      recordEvent(tools, set, subject.verb, subject.pod, error)
    throw error
  }
}

/** Creates a pod, after its claims. */
export async function createMember(tools: Tools, set: StatefulSetView, member: Member): Promise<void> {
  const { pod } = member
  await attempt(tools, set, { verb: 'Create', pod }, async () => {
    await createClaims(tools, set, member)
    await tools.client.create(Pod, pod)
  })
  await attempt(tools, set, { verb: 'Update', pod }, () => ownClaims(tools, set, member))
  recordEvent(tools, set, 'Create', pod)
}

/** Creates the missing claims of a pod. */
export async function completeClaims(tools: Tools, set: StatefulSetView, member: Member): Promise<void> {
  await createClaims(tools, set, member)
  await attempt(tools, set, { verb: 'Update', pod: member.pod }, () => ownClaims(tools, set, member))
}

/** Restores the labels, volumes and claims that identify a pod of the StatefulSet. */
export async function repairMember(tools: Tools, set: StatefulSetView, member: Member): Promise<void> {
  const { pod, ordinal } = member
  const isNamed = hasIdentity(set, pod, ordinal)
  const isStored = hasStorage(set, pod, ordinal)
  const isOwned = await areClaimsOwned(tools, set, member)
  if (isNamed && isStored && isOwned) return
  await attempt(tools, set, { verb: 'Update', pod }, async () => {
    if (!isStored) await createClaims(tools, set, member)
    if (!isOwned) await ownClaims(tools, set, member)
    if (isNamed && isStored) return
    await tools.client.update(Pod, {
      ...pod,
      metadata: { ...pod.metadata, labels: labelsOf(set, pod, ordinal) },
      spec: { ...pod.spec, volumes: volumesOf(set, pod, ordinal) },
    } as PodView)
  })
  recordEvent(tools, set, 'Update', pod)
}

/** Deletes a pod; ignores one that is already deleted. */
export async function deleteMember(tools: Tools, set: StatefulSetView, { pod }: Member): Promise<void> {
  const { namespace = '', name, uid } = pod.metadata
  await attempt(tools, set, { verb: 'Delete', pod }, () =>
    tools.client.delete(Pod, { namespace, name }, { preconditions: { uid } }),
  )
  recordEvent(tools, set, 'Delete', pod)
}
