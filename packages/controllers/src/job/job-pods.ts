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

/** Whether another controller manages the job. */
export function isManagedElsewhere({ spec }: JobView): boolean {
  return spec?.managedBy !== undefined && spec.managedBy !== ownController
}

/** The condition that marks a job as finished. */
export function finishedCondition({ status }: JobView): DeepReadonly<JobCondition> | undefined {
  return status?.conditions?.find(
    ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
  )
}

const isReported = ({ status }: JobView, wanted: string): boolean =>
  isStatusConditionTrue(status?.conditions, wanted)

/** Whether success is reported, though the job may not be finished yet. */
export const isSuccessReported = (job: JobView): boolean => isReported(job, 'SuccessCriteriaMet')
/** Whether success or failure is reported, though the job may not be finished yet. */
export const isEnding = (job: JobView): boolean => isSuccessReported(job) || isReported(job, 'FailureTarget')

/** Whether pods are replaced only when they have failed, not as soon as they are terminating. */
export function replacesOnlyFailed({ spec }: JobView): boolean {
  return spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined
}

export function isTracked({ metadata }: PodView): boolean {
  return metadata.finalizers?.includes(trackingFinalizer) ?? false
}

/** A terminating pod may never report that it failed. */
export function isFailed(pod: PodView, job: JobView): boolean {
  const phase = pod.status?.phase
  if (phase === 'Failed') return true
  return !replacesOnlyFailed(job) && pod.metadata.deletionTimestamp !== undefined && phase !== 'Succeeded'
}

/** The completion index of a pod; undefined if it has no valid one. */
export function indexOf({ metadata }: PodView, completions: number): number | undefined {
  const index = Number(parseInt64(metadata.annotations?.[indexName] ?? '') ?? -1n)
  return index >= 0 && index < completions ? index : undefined
}

function annotatedCount({ metadata }: PodView, name: string): number {
  const count = parseInt64(metadata.annotations?.[name] ?? '') ?? 0n
  return count >= 0n && count < 2n ** 31n ? Number(count) : 0
}

/** Earlier failures of its index, without ignored ones. */
export const indexFailuresOf = (pod: PodView): number => annotatedCount(pod, failureCount)
/** Earlier failures of its index, including ignored ones. */
export const allIndexFailuresOf = (pod: PodView): number =>
  annotatedCount(pod, failureCount) + annotatedCount(pod, ignoredFailureCount)

/** The template of a job's pods, with the tracking finalizer and the index variable. */
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

/** Assigns a pod to `index`, replacing the pod `replaced`. */
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
