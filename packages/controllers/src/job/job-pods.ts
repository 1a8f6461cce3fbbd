import type { Job, JobCondition } from '@coxswain/api/batch/v1'
import type { Container, PodTemplateSpec } from '@coxswain/api/core/v1'
import { parseInt64 } from '@coxswain/apimachinery/go'
import { type DeepReadonly, isStatusConditionTrue } from '@coxswain/apimachinery/meta'
import type { PodView } from '@coxswain/kinds'
import { judgeFailure } from './failure-policy.ts'

export type JobView = DeepReadonly<Job>

/** Keeps a pod until its job has counted it. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'
const indexName = 'batch.kubernetes.io/job-completion-index'
const failureCount = 'batch.kubernetes.io/job-index-failure-count'
const ignoredFailureCount = 'batch.kubernetes.io/job-index-ignored-failure-count'
const ownController = 'kubernetes.io/job-controller'
const longestPrefix = 58

export const isIndexed = ({ spec }: JobView): boolean => spec?.completionMode === 'Indexed'
export const isSuspended = ({ spec }: JobView): boolean => spec?.suspend === true
export const hasLimitPerIndex = ({ spec }: JobView): boolean => spec?.backoffLimitPerIndex !== undefined

/** Whether somebody else looks after the job. */
export function isManagedElsewhere({ spec }: JobView): boolean {
  return spec?.managedBy !== undefined && spec.managedBy !== ownController
}

/** The condition that says that a job is over. */
export function finishedCondition({ status }: JobView): DeepReadonly<JobCondition> | undefined {
  return status?.conditions?.find(
    ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
  )
}

const isTold = ({ status }: JobView, wanted: string): boolean =>
  isStatusConditionTrue(status?.conditions, wanted)

/** Whether it is said that a job has succeeded, though it may not be over yet. */
export const isSuccessTold = (job: JobView): boolean => isTold(job, 'SuccessCriteriaMet')
/** Whether it is said what a job comes to, though it may not be over yet. */
export const isEnding = (job: JobView): boolean => isSuccessTold(job) || isTold(job, 'FailureTarget')

/** Whether pods are replaced only when they have really failed, not as soon as they are going. */
export function replacesOnlyFailed({ spec }: JobView): boolean {
  return spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined
}

export function isTracked({ metadata }: PodView): boolean {
  return metadata.finalizers?.includes(trackingFinalizer) ?? false
}

/** A pod that is going may never get to say that it failed. */
export function isFailed(pod: PodView, job: JobView): boolean {
  const phase = pod.status?.phase
  if (phase === 'Failed') return true
  return !replacesOnlyFailed(job) && pod.metadata.deletionTimestamp !== undefined && phase !== 'Succeeded'
}

/** The index it works on; undefined when it has none that the job knows. */
export function indexOf({ metadata }: PodView, completions: number): number | undefined {
  const index = Number(parseInt64(metadata.annotations?.[indexName] ?? '') ?? -1n)
  return index >= 0 && index < completions ? index : undefined
}

function annotatedCount({ metadata }: PodView, name: string): number {
  const count = parseInt64(metadata.annotations?.[name] ?? '') ?? 0n
  return count >= 0n && count < 2n ** 31n ? Number(count) : 0
}

/** How often its index had failed before it, not counting what was ignored. */
export const indexFailuresOf = (pod: PodView): number => annotatedCount(pod, failureCount)
/** The same, counting everything. */
export const allIndexFailuresOf = (pod: PodView): number =>
  annotatedCount(pod, failureCount) + annotatedCount(pod, ignoredFailureCount)

/** What pods of the job are made of: they are kept until they are counted, and know their index. */
export function trackedTemplate(job: JobView): DeepReadonly<PodTemplateSpec> {
  const template = job.spec!.template
  const finalizers = new Set([...(template.metadata?.finalizers ?? []), trackingFinalizer])
  const { spec } = template
  return {
    ...template,
    metadata: { ...template.metadata, finalizers: [...finalizers] },
    ...(spec &&
      isIndexed(job) && {
        spec: {
          ...spec,
          containers: spec.containers.map(withIndexVariable),
          ...(spec.initContainers && { initContainers: spec.initContainers.map(withIndexVariable) }),
        },
      }),
  }
}

const variable = 'JOB_COMPLETION_INDEX'

function withIndexVariable(container: DeepReadonly<Container>): DeepReadonly<Container> {
  const { env = [] } = container
  if (env.some(({ name }) => name === variable)) return container
  const fieldRef = { fieldPath: `metadata.labels['${indexName}']` }
  return { ...container, env: [...env, { name: variable, valueFrom: { fieldRef } }] }
}

/** Marks a pod as the one that works on `index`, in place of `replaced`. */
export function withIndex(pod: PodView, job: JobView, index: number, replaced: PodView | undefined): PodView {
  const { name } = job.metadata
  const { labels, annotations } = pod.metadata
  const suffix = `-${index}-`
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      generateName: `${name.slice(0, longestPrefix - suffix.length)}${suffix}`,
      labels: { ...labels, [indexName]: String(index) },
      annotations: {
        ...annotations,
        [indexName]: String(index),
        ...(hasLimitPerIndex(job) && failureAnnotations(job, replaced)),
      },
    },
    spec: { ...pod.spec, hostname: `${name}-${index}` },
  }
}

function failureAnnotations(job: JobView, replaced: PodView | undefined): Record<string, string> {
  if (!replaced) return { [failureCount]: '0' }
  const { counts } = judgeFailure(job, replaced)
  const ignored = annotatedCount(replaced, ignoredFailureCount) + (counts ? 0 : 1)
  return {
    [failureCount]: String(indexFailuresOf(replaced) + (counts ? 1 : 0)),
    ...(ignored > 0 && { [ignoredFailureCount]: String(ignored) }),
  }
}
