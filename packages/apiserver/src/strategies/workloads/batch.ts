import { childObject, isObject, type JsonObject } from '../../json.ts'
import type { Strategy } from '../../registry/strategy.ts'
import { defaultTemplate, labelsOfTemplate, specOf } from './defaults.ts'

function fill(object: JsonObject, defaults: JsonObject): void {
  for (const [key, value] of Object.entries(defaults)) object[key] ??= value
}

function defaultJobSpec(spec: JsonObject): void {
  if (spec.completions === undefined && spec.parallelism === undefined)
    fill(spec, { completions: 1, parallelism: 1 })
  spec.parallelism ??= 1
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : 2147483647
  fill(spec, { completionMode: 'NonIndexed', suspend: false, manualSelector: false })
  spec.podReplacementPolicy ??= isObject(spec.podFailurePolicy) ? 'Failed' : 'TerminatingOrFailed'
  const rules = isObject(spec.podFailurePolicy) ? spec.podFailurePolicy.rules : undefined
  for (const rule of Array.isArray(rules) ? rules.filter(isObject) : []) {
    for (const pattern of Array.isArray(rule.onPodConditions) ? rule.onPodConditions.filter(isObject) : []) {
      pattern.status ??= 'True'
    }
  }
  defaultTemplate(spec)
}

const controllerUid = 'controller-uid'
const jobName = 'job-name'
const prefix = 'batch.kubernetes.io/'

export const jobStrategy: Strategy = {
  generation: true,
  propagation: 'orphan',
  default(object) {
    const spec = specOf(object)
    defaultJobSpec(spec)
    const labels = labelsOfTemplate(spec)
    const metadata = object.metadata as JsonObject
    if (labels && !isObject(metadata.labels)) metadata.labels = { ...labels }
  },
  /** A job selects its own pods by its uid, unless it says that it knows better. */
  prepareForCreate(object) {
    const spec = specOf(object)
    if (spec.manualSelector === true || !isObject(spec.template)) return
    const { uid, name } = object.metadata as { uid: string; name: string }
    const labels = childObject(childObject(spec.template, 'metadata'), 'labels')
    labels[controllerUid] = uid
    labels[jobName] = name
    labels[prefix + controllerUid] = uid
    labels[prefix + jobName] = name
    childObject(childObject(spec, 'selector'), 'matchLabels')[prefix + controllerUid] = uid
  },
}

export const cronJobStrategy: Strategy = {
  generation: true,
  default(object) {
    const spec = specOf(object)
    fill(spec, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    })
    if (isObject(spec.jobTemplate)) defaultCronTemplate(childObject(spec.jobTemplate, 'spec'))
  },
}

/** The job's own defaults come when the job is made; its pods are described in full already. */
function defaultCronTemplate(spec: JsonObject): void {
  defaultTemplate(spec)
}
