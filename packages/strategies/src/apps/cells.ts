import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import { formatHumanDuration } from '@coxswain/apimachinery/time'
import { ageCell, nameCell } from '../shared/cells.ts'
import { listOf, numberOf, objectOf, recordOf, textOf } from '../shared/reading.ts'

type Cells = (object: JsonObject, now: number) => readonly unknown[]

/** The names and the images of a template's containers. */
function containerCells(template: unknown): [string, string] {
  const containers = listOf(objectOf(objectOf(template).spec).containers)
  return [
    containers.map(({ name }) => textOf(name)).join(','),
    containers.map(({ image }) => textOf(image)).join(','),
  ]
}

/** Labels as `kubectl` prints them. */
function labelsCell(labels: unknown): string {
  const pairs = Object.entries(recordOf(labels))
  if (pairs.length === 0) return '<none>'
  return pairs
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',')
}

function selectorCell(selector: unknown): string {
  if (!isObject(selector)) return '<none>'
  try {
    return labelSelectorAsSelector(selector as LabelSelector).toString() || '<none>'
  } catch {
    return '<error>'
  }
}

export const deploymentCells: Cells = (object, now) => {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  return [
    nameCell(object),
    `${numberOf(status.readyReplicas)}/${numberOf(spec.replicas)}`,
    numberOf(status.updatedReplicas),
    numberOf(status.availableReplicas),
    ageCell(object, now),
    ...containerCells(spec.template),
    selectorCell(spec.selector),
  ]
}

/** Replica sets and replication controllers. */
export const replicaCells: Cells = (object, now) => {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  const isController = object.kind === 'ReplicationController'
  return [
    nameCell(object),
    numberOf(spec.replicas),
    numberOf(status.replicas),
    numberOf(status.readyReplicas),
    ageCell(object, now),
    ...containerCells(spec.template),
    isController ? labelsCell(spec.selector) : selectorCell(spec.selector),
  ]
}

export const statefulSetCells: Cells = (object, now) => {
  const spec = objectOf(object.spec)
  return [
    nameCell(object),
    `${numberOf(objectOf(object.status).readyReplicas)}/${numberOf(spec.replicas)}`,
    ageCell(object, now),
    ...containerCells(spec.template),
  ]
}

export const daemonSetCells: Cells = (object, now) => {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  return [
    nameCell(object),
    numberOf(status.desiredNumberScheduled),
    numberOf(status.currentNumberScheduled),
    numberOf(status.numberReady),
    numberOf(status.updatedNumberScheduled),
    numberOf(status.numberAvailable),
    labelsCell(objectOf(objectOf(spec.template).spec).nodeSelector),
    ageCell(object, now),
    ...containerCells(spec.template),
    selectorCell(spec.selector),
  ]
}

export const controllerRevisionCells: Cells = (object, now) => {
  const owner = listOf(objectOf(object.metadata).ownerReferences).find(
    ({ controller }) => controller === true,
  )
  const [group = ''] = textOf(owner?.apiVersion).includes('/') ? textOf(owner?.apiVersion).split('/') : ['']
  const kind = textOf(owner?.kind).toLowerCase()
  const name = owner ? `${kind}${group === '' ? '' : `.${group}`}/${textOf(owner.name)}` : '<none>'
  return [nameCell(object), name, numberOf(object.revision), ageCell(object, now)]
}

export const podTemplateCells: Cells = object => [
  nameCell(object),
  ...containerCells(object.template),
  labelsCell(objectOf(objectOf(object.template).metadata).labels),
]

export const jobCells: Cells = (object, now) => {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  return [
    nameCell(object),
    jobState(object),
    completionsCell(spec, status),
    durationCell(status, now),
    ageCell(object, now),
    ...containerCells(spec.template),
    selectorCell(spec.selector),
  ]
}

function jobState(object: JsonObject): string {
  const { conditions } = objectOf(object.status)
  const has = (type: string) =>
    listOf(conditions).some(condition => condition.type === type && condition.status === 'True')
  if (has('Complete')) return 'Complete'
  if (has('Failed')) return 'Failed'
  if (objectOf(object.metadata).deletionTimestamp !== undefined) return 'Terminating'
  if (has('Suspended')) return 'Suspended'
  if (has('FailureTarget')) return 'FailureTarget'
  if (has('SuccessCriteriaMet')) return 'SuccessCriteriaMet'
  return 'Running'
}

function completionsCell(spec: JsonObject, status: JsonObject): string {
  const succeeded = numberOf(status.succeeded)
  if (spec.completions !== undefined) return `${succeeded}/${numberOf(spec.completions)}`
  const parallelism = numberOf(spec.parallelism)
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationCell(status: JsonObject, now: number): string {
  if (status.startTime === undefined) return ''
  const end = status.completionTime === undefined ? now : Date.parse(textOf(status.completionTime))
  return formatHumanDuration(end - Date.parse(textOf(status.startTime)))
}

export const cronJobCells: Cells = (object, now) => {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  const last = textOf(status.lastScheduleTime)
  const suspend = spec.suspend === undefined ? '<unset>' : spec.suspend === true ? 'True' : 'False'
  return [
    nameCell(object),
    textOf(spec.schedule),
    textOf(spec.timeZone) || '<none>',
    suspend,
    listOf(status.active).length,
    last === '' ? '<none>' : formatHumanDuration(now - Date.parse(last)),
    ageCell(object, now),
    ...containerCells(objectOf(objectOf(spec.jobTemplate).spec).template),
    selectorCell(objectOf(objectOf(spec.jobTemplate).spec).selector),
  ]
}

export const disruptionBudgetCells: Cells = (object, now) => {
  const { minAvailable, maxUnavailable } = objectOf(object.spec)
  return [
    nameCell(object),
    minAvailable === undefined ? 'N/A' : String(minAvailable),
    maxUnavailable === undefined ? 'N/A' : String(maxUnavailable),
    numberOf(objectOf(object.status).disruptionsAllowed),
    ageCell(object, now),
  ]
}
