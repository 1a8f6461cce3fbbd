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

/** Lets an operator find revisions by who controls them. */
export function indexRevisions(operator: OperatorBuilder): void {
  operator.index(ControllerRevision, field, byController)
}

/** The revisions that `owner` controls, and those of its namespace that nobody does. */
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
 * What a revision keeps: the patch that brings its template back. `kubectl rollout undo` sends it as it is. Keys are in
 * order, since servers compare the bytes: patching anything else of a revision puts them in order, and data must not change.
 */
export function revisionData(template: TemplateView): Record<string, unknown> {
  return sortKeys({ spec: { template: { ...plain(template), $patch: 'replace' } } }) as Record<
    string,
    unknown
  >
}

/** The template that a revision keeps; undefined when there is none in it. */
export function templateIn({ data }: RevisionView): TemplateView | undefined {
  const spec = data?.spec as { readonly template?: TemplateView & { readonly $patch?: string } } | undefined
  if (!spec?.template) return undefined
  const { $patch: _, ...template } = spec.template
  return template
}

/** Whether a revision keeps just this template. */
export function isRevisionOf(revision: RevisionView, template: TemplateView): boolean {
  const kept = templateIn(revision)
  return kept !== undefined && deepEqual(plain(kept), plain(template))
}

/** Older servers write an empty creation time into templates. */
function plain(template: TemplateView): TemplateView {
  const { metadata, ...rest } = template
  if (!metadata) return template
  const { creationTimestamp, ...others } = metadata as Record<string, unknown>
  return creationTimestamp === undefined || creationTimestamp === null
    ? ({ ...rest, metadata: others } as TemplateView)
    : template
}

/** Deletes a revision; one that is gone is no matter. */
export async function deleteRevision(client: OperatorClient, { metadata }: RevisionView): Promise<void> {
  const { namespace = '', name, uid } = metadata
  await client.delete(ControllerRevision, { namespace, name }, { preconditions: { uid } })
}
