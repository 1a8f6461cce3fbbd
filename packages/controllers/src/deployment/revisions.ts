import type { ReplicaSet } from '@coxswain/api/apps/v1'
import type { PodTemplateSpec } from '@coxswain/api/core/v1'
import { type DeepReadonly, deepEqual } from '@coxswain/apimachinery'
import { type DeploymentView, fenceposts, wantedReplicas } from './strategy.ts'

export type SetView = DeepReadonly<ReplicaSet>

export const templateHashLabel = 'pod-template-hash'
export const revisionAnnotation = 'deployment.kubernetes.io/revision'
export const rollbackAnnotation = 'deprecated.deployment.rollback.to'
const historyAnnotation = 'deployment.kubernetes.io/revision-history'
const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas'
const maxAnnotation = 'deployment.kubernetes.io/max-replicas'
const longestHistory = 2_000

/** Annotations that are the controller's own on one side or the other. */
const notCopied = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
  rollbackAnnotation,
])

type Annotations = Readonly<Record<string, string>>

/** Whether two templates describe the same pods; the label with which sets are told apart does not count. */
export function isSameTemplate(
  a: DeepReadonly<PodTemplateSpec> | undefined,
  b: DeepReadonly<PodTemplateSpec> | undefined,
): boolean {
  return deepEqual(withoutHash(a), withoutHash(b))
}

export function withoutHash(
  template: DeepReadonly<PodTemplateSpec> | undefined,
): DeepReadonly<PodTemplateSpec> {
  const { metadata = {}, ...rest } = template ?? {}
  const {
    creationTimestamp: _,
    labels = {},
    ...others
  } = metadata as Record<string, unknown> & {
    labels?: Record<string, string>
  }
  const { [templateHashLabel]: __, ...kept } = labels
  return {
    ...rest,
    metadata: { ...others, ...(Object.keys(kept).length > 0 && { labels: kept }) },
  } as DeepReadonly<PodTemplateSpec>
}

export function revisionOf({
  metadata,
}: {
  readonly metadata: { readonly annotations?: Annotations }
}): number {
  const text = metadata.annotations?.[revisionAnnotation] ?? ''
  return /^\d+$/.test(text) ? Number(text) : 0
}

export function highestRevision(sets: readonly SetView[]): number {
  return sets.reduce((highest, set) => Math.max(highest, revisionOf(set)), 0)
}

/** What the deployment wanted when it last scaled the set; undefined when it has not. */
export function desiredBefore(set: SetView): number | undefined {
  return readCount(set.metadata.annotations?.[desiredAnnotation])
}

/** How many pods the deployment might have had then. */
export function mostBefore(set: SetView): number | undefined {
  return readCount(set.metadata.annotations?.[maxAnnotation])
}

function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

/** The annotations of a set that is scaled now. */
export function withReplicaCounts(annotations: Annotations, deployment: DeploymentView): Annotations {
  const replicas = wantedReplicas(deployment)
  return {
    ...annotations,
    [desiredAnnotation]: String(replicas),
    [maxAnnotation]: String(replicas + fenceposts(deployment).surge),
  }
}

/** The annotations of the set that is the newest now: the deployment's, and where it stands in the history. */
export function newestAnnotations(
  set: Annotations,
  deployment: DeploymentView,
  revision: number,
): Annotations {
  const result: Record<string, string> = { ...set, ...copied(deployment.metadata.annotations ?? {}) }
  const before = set[revisionAnnotation]
  if (before !== undefined && !/^\d+$/.test(before)) return result
  if (Number(before ?? 0) >= revision) return result
  result[revisionAnnotation] = String(revision)
  if (before === undefined) return result
  const history = (set[historyAnnotation] ?? '').split(',').filter(text => text !== '')
  history.push(before)
  while (history.length > 1 && history.join(',').length > longestHistory) history.shift()
  result[historyAnnotation] = history.join(',')
  return result
}

function copied(annotations: Annotations): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !notCopied.has(name)))
}

/** The deployment's annotations after a roll-back to `set`. */
export function annotationsAfterRollback(deployment: DeploymentView, set: SetView): Annotations {
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => notCopied.has(name))
  return { ...Object.fromEntries(own), ...copied(set.metadata.annotations ?? {}) }
}
