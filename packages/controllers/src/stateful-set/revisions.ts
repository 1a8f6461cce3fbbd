import { ControllerRevision, StatefulSet } from '@coxswain/api/apps/v1'
import { isAlreadyExists } from '@coxswain/apimachinery/status'
import { controllerReference, hashControllerRevision, type PodView } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'
import {
  compareRevisions,
  deleteRevision,
  isRevisionOf,
  type RevisionView,
  revisionData,
  type TemplateView,
  templateIn,
} from '../pods/controller-revisions.ts'
import { podRevision, type StatefulSetView } from './identity.ts'

const hashLabel = 'controller.kubernetes.io/hash'

/** A revision's name and pod template. */
export interface Revision {
  readonly name: string
  readonly template: TemplateView
}

export interface Revisions {
  /** The revision of pods below the partition. */
  readonly current: Revision
  /** The revision of the StatefulSet's template. */
  readonly update: Revision
  readonly collisions: number
}

/** Finds the revisions of a StatefulSet, and creates one if its template is new. */
export async function syncRevisions(
  client: OperatorClient,
  set: StatefulSetView,
  known: readonly RevisionView[],
): Promise<Revisions> {
  const revisions = [...known].sort(compareRevisions)
  const template = set.spec!.template
  const latest = revisions.at(-1)
  const next = (latest?.revision ?? 0) + 1
  let collisions = set.status?.collisionCount ?? 0
  let update = revisions.findLast(revision => isRevisionOf(revision, template))
  if (!update) ({ revision: update, collisions } = await createRevision(client, set, next, collisions))
  else if (update !== latest && !isRevisionOf(latest!, template))
    // Rolled back to an earlier template: its revision becomes the newest.
    update = await client.update(ControllerRevision, { ...update, revision: next })
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update
  return { current: describe(current, template), update: describe(update, template), collisions }
}

function describe(revision: RevisionView, otherwise: TemplateView): Revision {
  return { name: revision.metadata.name, template: templateIn(revision) ?? otherwise }
}

async function createRevision(
  client: OperatorClient,
  set: StatefulSetView,
  revision: number,
  collisionsBefore: number,
): Promise<{ readonly revision: RevisionView; readonly collisions: number }> {
  const { namespace = '', name: setName, annotations } = set.metadata
  const template = set.spec!.template
  const data = revisionData(template)
  const label = hashControllerRevision(data, collisionsBefore)
  for (let collisions = collisionsBefore; ; collisions++) {
    const name = `${setName}-${hashControllerRevision(data, collisions)}`
    try {
      const made = await client.create(ControllerRevision, {
        metadata: {
          name,
          namespace,
          labels: { ...template.metadata?.labels, [hashLabel]: label },
          ...(annotations && { annotations }),
          ownerReferences: [controllerReference(StatefulSet, set)],
        },
        data,
        revision,
      })
      return { revision: made, collisions }
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      const found = await client.get(ControllerRevision, { namespace, name }, { cached: false })
      if (found && isRevisionOf(found, template)) return { revision: found, collisions }
    }
  }
}

/** Deletes the oldest unused revisions beyond `revisionHistoryLimit`. */
export async function cleanUpRevisions(
  client: OperatorClient,
  set: StatefulSetView,
  known: readonly RevisionView[],
  live: { readonly revisions: Revisions; readonly pods: readonly PodView[] },
): Promise<void> {
  const { current, update } = live.revisions
  const names = new Set([current.name, update.name, ...live.pods.map(podRevision)])
  const old = known.filter(({ metadata }) => !names.has(metadata.name)).sort(compareRevisions)
  const limit = set.spec?.revisionHistoryLimit ?? 10
  for (const revision of old.slice(0, Math.max(0, old.length - limit))) await deleteRevision(client, revision)
}
