import type { ReplicaSet } from '@coxswain/api/apps/v1'
import type { PodTemplateSpec } from '@coxswain/api/core/v1'
import { parseInt64 } from '@coxswain/apimachinery/go'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { type DeploymentView, desiredReplicas, fenceposts } from './strategy.ts'

export type ReplicaSetView = DeepReadonly<ReplicaSet>

export const templateHashLabel = 'pod-template-hash'
export const revisionAnnotation = 'deployment.kubernetes.io/revision'
export const rollbackAnnotation = 'deprecated.deployment.rollback.to'
const historyAnnotation = 'deployment.kubernetes.io/revision-history'
const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas'
const maxAnnotation = 'deployment.kubernetes.io/max-replicas'
const longestHistory = 2_000

/** Annotations that are not copied between a Deployment and its ReplicaSets. */
const notCopied = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
  rollbackAnnotation,
])

type Annotations = Readonly<Record<string, string>>

/** Whether two templates describe the same pods, ignoring the pod-template-hash label. */
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

/** The revision, an int64; 0 without the annotation, undefined if it is not a number. */
export function revisionOf({ metadata }: ReplicaSetView): bigint | undefined {
  const text = metadata.annotations?.[revisionAnnotation]
  return text === undefined ? 0n : parseInt64(text)
}

/** One more than the highest revision. Wraps around like Go's int64. */
export function nextRevision(sets: readonly ReplicaSetView[]): bigint {
  return BigInt.asIntN(64, (descendingRevisions(sets)[0] ?? 0n) + 1n)
}

/** The second highest revision, or 0. */
export function previousRevision(sets: readonly ReplicaSetView[]): bigint {
  return descendingRevisions(sets)[1] ?? 0n
}

/** Skips revisions that are not numbers or are negative. */
function descendingRevisions(sets: readonly ReplicaSetView[]): bigint[] {
  const revisions = sets.map(revisionOf).filter(revision => revision !== undefined && revision >= 0n)
  return (revisions as bigint[]).sort((a, b) => compare(b, a))
}

/** Sorts lower revisions first; 0 if either is not a number. */
export function compareRevisions(a: ReplicaSetView, b: ReplicaSetView): number {
  const [left, right] = [revisionOf(a), revisionOf(b)]
  return left === undefined || right === undefined ? 0 : compare(left, right)
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The revision that the annotation of deprecated clients requests; undefined if absent or not a number. */
export function rollbackRevision({ metadata }: DeploymentView): bigint | undefined {
  return parseInt64(metadata.annotations?.[rollbackAnnotation] ?? '')
}

/** The Deployment's desired replicas when it last scaled the ReplicaSet; undefined if it never did. */
export function annotatedDesiredReplicas(set: ReplicaSetView): number | undefined {
  return readCount(set.metadata.annotations?.[desiredAnnotation])
}

/** The Deployment's maximum number of pods at that time. */
export function annotatedMaxReplicas(set: ReplicaSetView): number | undefined {
  return readCount(set.metadata.annotations?.[maxAnnotation])
}

/** Rejects signs and values above the largest int32. */
function readCount(text = ''): number | undefined {
  const count = /^\d/.test(text) ? parseInt64(text) : undefined
  return count !== undefined && count <= 0x7fffffffn ? Number(count) : undefined
}

/** The annotations of a ReplicaSet that is being scaled. */
export function withReplicaCounts(annotations: Annotations, deployment: DeploymentView): Annotations {
  const replicas = desiredReplicas(deployment)
  return {
    ...annotations,
    [desiredAnnotation]: String(replicas),
    [maxAnnotation]: String(replicas + fenceposts(deployment).surge),
  }
}

/**
 * The annotations of the new ReplicaSet: those of the Deployment, its revision and revision history. Unchanged if its revision is
 * not a number.
 */
export function newReplicaSetAnnotations(
  set: Annotations,
  deployment: DeploymentView,
  revision: bigint,
): Annotations {
  const result: Record<string, string> = { ...set, ...copied(deployment.metadata.annotations ?? {}) }
  const before = set[revisionAnnotation]
  const number = before ? parseInt64(before) : 0n
  if (number === undefined) return set
  if (number >= revision) return result
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

/** The Deployment's annotations after a rollback to `set`. */
export function annotationsAfterRollback(deployment: DeploymentView, set: ReplicaSetView): Annotations {
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => notCopied.has(name))
  return { ...Object.fromEntries(own), ...copied(set.metadata.annotations ?? {}) }
}
