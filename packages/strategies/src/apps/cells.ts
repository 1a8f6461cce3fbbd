import {
  formatHumanDuration,
  isObject,
  type JsonObject,
  type LabelSelector,
  labelSelectorAsSelector,
} from '@coxswain/apimachinery'
import { ageCell, nameCell } from '../shared/cells.ts'
import { listOf, numberOf, objectOf, recordOf, textOf } from '../shared/reading.ts'
import type { TableCells } from '../strategy.ts'

type Cells = (object: JsonObject, now: number) => TableCells

/** The names and the images of a template's containers. */
function containerCells(template: unknown): { Containers: string; Images: string } {
  const containers = listOf(objectOf(objectOf(template).spec).containers)
  return {
    Containers: containers.map(({ name }) => textOf(name)).join(','),
    Images: containers.map(({ image }) => textOf(image)).join(','),
  }
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
  return {
    Name: nameCell(object),
    Ready: `${numberOf(status.readyReplicas)}/${numberOf(spec.replicas)}`,
    'Up-to-date': numberOf(status.updatedReplicas),
    Available: numberOf(status.availableReplicas),
    Age: ageCell(object, now),
    ...containerCells(spec.template),
    Selector: selectorCell(spec.selector),
  }
}

/** Replica sets and replication controllers. */
export const replicaCells: Cells = (object, now) => {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  const isController = object.kind === 'ReplicationController'
  return {
    Name: nameCell(object),
    Desired: numberOf(spec.replicas),
    Current: numberOf(status.replicas),
    Ready: numberOf(status.readyReplicas),
    Age: ageCell(object, now),
    ...containerCells(spec.template),
    Selector: isController ? labelsCell(spec.selector) : selectorCell(spec.selector),
  }
}

export const statefulSetCells: Cells = (object, now) => {
  const spec = objectOf(object.spec)
  return {
    Name: nameCell(object),
    Ready: `${numberOf(objectOf(object.status).readyReplicas)}/${numberOf(spec.replicas)}`,
    Age: ageCell(object, now),
    ...containerCells(spec.template),
  }
}

export const daemonSetCells: Cells = (object, now) => {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  return {
    Name: nameCell(object),
    Desired: numberOf(status.desiredNumberScheduled),
    Current: numberOf(status.currentNumberScheduled),
    Ready: numberOf(status.numberReady),
    'Up-to-date': numberOf(status.updatedNumberScheduled),
    Available: numberOf(status.numberAvailable),
    'Node Selector': labelsCell(objectOf(objectOf(spec.template).spec).nodeSelector),
    Age: ageCell(object, now),
    ...containerCells(spec.template),
    Selector: selectorCell(spec.selector),
  }
}

export const controllerRevisionCells: Cells = (object, now) => {
  const owner = listOf(objectOf(object.metadata).ownerReferences).find(
    ({ controller }) => controller === true,
  )
  const [group = ''] = textOf(owner?.apiVersion).includes('/') ? textOf(owner?.apiVersion).split('/') : ['']
  const kind = textOf(owner?.kind).toLowerCase()
  const name = owner ? `${kind}${group === '' ? '' : `.${group}`}/${textOf(owner.name)}` : '<none>'
  return {
    Name: nameCell(object),
    Controller: name,
    Revision: numberOf(object.revision),
    Age: ageCell(object, now),
  }
}

export const podTemplateCells: Cells = object => ({
  Name: nameCell(object),
  ...containerCells(object.template),
  'Pod Labels': labelsCell(objectOf(objectOf(object.template).metadata).labels),
})

export const jobCells: Cells = (object, now) => {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  return {
    Name: nameCell(object),
    Status: jobState(object),
    Completions: completionsCell(spec, status),
    Duration: durationCell(status, now),
    Age: ageCell(object, now),
    ...containerCells(spec.template),
    Selector: selectorCell(spec.selector),
  }
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
  return {
    Name: nameCell(object),
    Schedule: textOf(spec.schedule),
    Timezone: textOf(spec.timeZone) || '<none>',
    Suspend: suspend,
    Active: listOf(status.active).length,
    'Last Schedule': last === '' ? '<none>' : formatHumanDuration(now - Date.parse(last)),
    Age: ageCell(object, now),
    ...containerCells(objectOf(objectOf(spec.jobTemplate).spec).template),
    Selector: selectorCell(objectOf(objectOf(spec.jobTemplate).spec).selector),
  }
}

export const disruptionBudgetCells: Cells = (object, now) => {
  const { minAvailable, maxUnavailable } = objectOf(object.spec)
  return {
    Name: nameCell(object),
    'Min Available': minAvailable === undefined ? 'N/A' : String(minAvailable),
    'Max Unavailable': maxUnavailable === undefined ? 'N/A' : String(maxUnavailable),
    'Allowed Disruptions': numberOf(objectOf(object.status).disruptionsAllowed),
    Age: ageCell(object, now),
  }
}
