import { ControllerRevision, DaemonSet } from '@coxswain/api/apps/v1'
import { Pod } from '@coxswain/api/core/v1'
import { isAlreadyExists } from '@coxswain/apimachinery/status'
import { controllerReference, hashPodTemplate, type PodView } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'
import {
  compareRevisions,
  deleteRevision,
  isRevisionOf,
  type RevisionView,
  revisionData,
} from '../pods/controller-revisions.ts'
import { type DaemonSetView, hashLabel } from './placement.ts'

export interface History {
  /** The hash label of pods with the current template. */
  readonly hash: string
  readonly old: readonly RevisionView[]
}

/** Splits a DaemonSet's revisions into the current one, which is created if missing, and the old ones. */
export async function syncHistory(
  client: OperatorClient,
  set: DaemonSetView,
  known: readonly RevisionView[],
  pods: readonly PodView[],
): Promise<History> {
  const revisions = await Promise.all(known.map(revision => withHash(client, revision)))
  const template = set.spec!.template
  const same = revisions.filter(revision => isRevisionOf(revision, template)).sort(compareRevisions)
  const old = revisions.filter(revision => !same.includes(revision))
  const next = old.reduce((highest, { revision }) => Math.max(highest, revision), 0) + 1
  const [present, ...doubles] = same.reverse()
  if (!present) return { hash: hashOf(await createRevision(client, set, next)), old }
  for (const double of doubles) await replace(client, double, present, pods)
  if (present.revision < next) await client.update(ControllerRevision, { ...present, revision: next })
  return { hash: hashOf(present), old }
}

const hashOf = ({ metadata }: RevisionView) => metadata.labels?.[hashLabel] ?? metadata.name

async function withHash(client: OperatorClient, revision: RevisionView): Promise<RevisionView> {
  const { metadata } = revision
  if (metadata.labels?.[hashLabel] !== undefined) return revision
  const labels = { ...metadata.labels, [hashLabel]: metadata.name }
  return await client.update(ControllerRevision, { ...revision, metadata: { ...metadata, labels } })
}

/** Merges duplicate revisions of one template, relabelling their pods. */
async function replace(
  client: OperatorClient,
  double: RevisionView,
  by: RevisionView,
  pods: readonly PodView[],
): Promise<void> {
  for (const { metadata } of pods) {
    if (metadata.labels?.[hashLabel] !== hashOf(double)) continue
    const { namespace = '', name, uid } = metadata
    const patch = { metadata: { uid, labels: { [hashLabel]: hashOf(by) } } }
    await client.patch(Pod, { namespace, name }, patch, { type: 'merge' })
  }
  await deleteRevision(client, double)
}

async function createRevision(
  client: OperatorClient,
  set: DaemonSetView,
  revision: number,
): Promise<RevisionView> {
  const { namespace = '', annotations } = set.metadata
  const template = set.spec!.template
  const collisionCount = set.status?.collisionCount ?? 0
  const hash = hashPodTemplate(template, collisionCount)
  const name = `${set.metadata.name}-${hash}`
  try {
    return await client.create(ControllerRevision, {
      metadata: {
        name,
        namespace,
        labels: { ...template.metadata?.labels, [hashLabel]: hash },
        ...(annotations && { annotations }),
        ownerReferences: [controllerReference(DaemonSet, set)],
      },
      data: revisionData(template),
      revision,
    })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const found = await client.get(ControllerRevision, { namespace, name }, { cached: false })
    if (found && isRevisionOf(found, template)) return found
    if (found) {
      const status = { ...set.status, collisionCount: collisionCount + 1 }
      await client.updateStatus(DaemonSet, { ...set, status } as DaemonSetView)
    }
    throw error // the next reconciliation uses another name
  }
}

/** Deletes the oldest unused revisions beyond `revisionHistoryLimit`. */
export async function cleanUpHistory(
  client: OperatorClient,
  set: DaemonSetView,
  { old }: History,
  pods: readonly PodView[],
): Promise<void> {
  let surplus = old.length - (set.spec?.revisionHistoryLimit ?? 10)
  const live = new Set(pods.map(({ metadata }) => metadata.labels?.[hashLabel]))
  for (const revision of [...old].sort(compareRevisions)) {
    if (surplus <= 0) return
    if (live.has(hashOf(revision))) continue
    await deleteRevision(client, revision)
    surplus--
  }
}
