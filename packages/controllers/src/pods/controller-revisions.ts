import { ControllerRevision } from '@coxswain/api/apps/v1'
import type { PodTemplateSpec } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { type ApiObject, type DeepReadonly, getControllerOf } from '@coxswain/apimachinery/meta'
import { sortKeys } from '@coxswain/kinds'
import type { OperatorBuilder, OperatorClient } from '@coxswain/runtime'

export type RevisionView = DeepReadonly<ControllerRevision>
export type TemplateView = DeepReadonly<PodTemplateSpec>

const field = 'controller'

const orphansOf = (namespace = '') => `orphans/${namespace}`

const byController = (revision: RevisionView): string[] => [
  getControllerOf(revision)?.uid ?? orphansOf(revision.metadata.namespace),
]

/** Indexes ControllerRevisions by controller. */
export function indexRevisions(operator: OperatorBuilder): void {
  operator.index(ControllerRevision, field, byController)
}

/** The revisions that `owner` controls, and the orphans in its namespace. */
export async function listRevisionsFor(
  client: OperatorClient,
  { metadata }: DeepReadonly<ApiObject>,
): Promise<RevisionView[]> {
  const owned = await client.list(ControllerRevision, { fields: { [field]: metadata.uid } })
  const orphans = await client.list(ControllerRevision, {
    fields: { [field]: orphansOf(metadata.namespace) },
  })
  return [...owned.items, ...orphans.items]
}

/** Oldest first. */
export function compareRevisions(a: RevisionView, b: RevisionView): number {
  if (a.revision !== b.revision) return a.revision - b.revision
  const age = Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp)
  return age !== 0 ? age : a.metadata.name < b.metadata.name ? -1 : 1
}

/**
 * The data of a revision: the patch that restores its template, which `kubectl rollout undo` sends as it is. Keys are sorted
 * because servers compare the bytes: patching another field of a revision sorts them, and its data is immutable.
 */
export function revisionData(template: TemplateView): Record<string, unknown> {
  return sortKeys({ spec: { template: { ...plain(template), $patch: 'replace' } } }) as Record<
    string,
    unknown
  >
}

/** The template in a revision's data, if any. */
export function templateIn({ data }: RevisionView): TemplateView | undefined {
  const spec = data?.spec as { readonly template?: TemplateView & { readonly $patch?: string } } | undefined
  if (!spec?.template) return undefined
  const { $patch: _, ...template } = spec.template
  return template
}

/** Whether a revision contains exactly this template. */
export function isRevisionOf(revision: RevisionView, template: TemplateView): boolean {
  const kept = templateIn(revision)
  return kept !== undefined && deepEqual(plain(kept), plain(template))
}

/** Older servers write an empty creationTimestamp into templates. */
function plain(template: TemplateView): TemplateView {
  const { metadata, ...rest } = template
  if (!metadata) return template
  const { creationTimestamp, ...others } = metadata as Record<string, unknown>
  return creationTimestamp === undefined || creationTimestamp === null
    ? ({ ...rest, metadata: others } as TemplateView)
    : template
}

/** Deletes a revision; ignores one that is already deleted. */
export async function deleteRevision(client: OperatorClient, { metadata }: RevisionView): Promise<void> {
  const { namespace = '', name, uid } = metadata
  await client.delete(ControllerRevision, { namespace, name }, { preconditions: { uid } })
}
