import * as field from '@coxswain/apimachinery/field'
import { childObject, deepClone, deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { Selector } from '@coxswain/apimachinery/selectors'
import { isDNS1123Label, validateLabelSelector } from '@coxswain/apimachinery/validation'
import { nameWarnings } from '../apps/apps.ts'
import { jobCells } from '../apps/cells.ts'
import { defaultTemplate, fill, labelsOfTemplate, specOf } from '../apps/defaults.ts'
import { selectorOf, validateImmutable } from '../apps/template.ts'
import { templateWarnings } from '../core/pod/warnings.ts'
import { goValue } from '../shared/go-value.ts'
import {
  type Findings,
  listOf,
  numberOf,
  objectOf,
  printed,
  recordOf,
  textOf,
  type WarningTexts,
} from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateJobSpec } from './job-spec.ts'
import { isConditionTrue, validateJobStatus } from './job-status.ts'

const specPath = field.Path.of('spec')
const unlimited = 2147483647

function defaultJob(spec: JsonObject): void {
  if (spec.completions === undefined && spec.parallelism === undefined)
    fill(spec, { completions: 1, parallelism: 1 })
  spec.parallelism ??= 1
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : unlimited
  fill(spec, { completionMode: 'NonIndexed', suspend: false, manualSelector: false })
  spec.podReplacementPolicy ??= isObject(spec.podFailurePolicy) ? 'Failed' : 'TerminatingOrFailed'
  defaultConditionPatterns(spec)
  defaultTemplate(spec)
}

/** The condition of a pod that a failure rule is about is true, unless it says otherwise. */
export function defaultConditionPatterns(spec: JsonObject): void {
  for (const rule of listOf(objectOf(spec.podFailurePolicy).rules))
    for (const pattern of listOf(rule.onPodConditions)) pattern.status ??= 'True'
}

const controllerUid = 'controller-uid'
const jobName = 'job-name'
const prefix = 'batch.kubernetes.io/'

export const jobStrategy: Strategy = {
  fields: ({ status }) => ({
    'status.successful': String((status as { succeeded?: number } | undefined)?.succeeded ?? 0),
  }),
  cells: jobCells,
  generation: true,
  propagation: 'orphan',
  propagationWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  default(object) {
    const spec = specOf(object)
    defaultJob(spec)
    const labels = labelsOfTemplate(spec)
    const metadata = object.metadata as JsonObject
    // The very same labels: what the server adds to the template's shows in the job's too.
    if (labels && !isObject(metadata.labels)) metadata.labels = labels
  },
  /** A job selects its own pods by its uid, unless it says that it knows better. */
  prepareForCreate(object) {
    const spec = specOf(object)
    if (spec.manualSelector === true) return
    const { uid, name = '' } = object.metadata as { uid: string; name?: string }
    const labels = childObject(childObject(childObject(spec, 'template'), 'metadata'), 'labels')
    fill(labels, {
      [jobName]: name,
      [prefix + jobName]: name,
      [controllerUid]: uid,
      [prefix + controllerUid]: uid,
    })
    const metadata = object.metadata as JsonObject
    if (!isObject(metadata.labels) || metadata.labels === labels) metadata.labels = { ...labels }
    fill(childObject(childObject(spec, 'selector'), 'matchLabels'), { [prefix + controllerUid]: uid })
  },
  validate: object => validateJob(object),
  validateUpdate: (object, old) => validateJobChange(object, old),
  validateStatusUpdate: (object, old) => validateJobStatus(object, old),
  *warnings(object, old) {
    const changed = !old || objectOf(object.metadata).generation !== objectOf(old.metadata).generation
    if (!old) yield* nameWarnings(object, 'Pod names and hostnames')
    if (changed) yield* jobSpecWarnings(specOf(object), specPath)
  },
}

export function* jobSpecWarnings(spec: JsonObject, path: field.Path): WarningTexts {
  const isHuge =
    spec.completionMode === 'Indexed' &&
    numberOf(spec.completions) > 100_000 &&
    numberOf(spec.parallelism) > 10_000
  if (isHuge)
    yield `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`
  yield* templateWarnings(objectOf(spec.template), path.child('template'))
}

function* validateJob(job: JsonObject): Findings {
  const spec = specOf(job)
  const name = textOf(objectOf(job.metadata).name)
  yield* validateOwnSelector(job)
  yield* validateJobSpec(spec, specPath)
  if (!isObject(spec.selector)) yield field.required(specPath.child('selector'))
  else yield* validateLabelSelector(spec.selector as LabelSelector, specPath.child('selector'))
  const selector = selectorOf(spec)
  const { labels } = objectOf(objectOf(spec.template).metadata)
  if (selector && !selector.matches(recordOf(labels))) {
    const at = specPath.child('template', 'metadata', 'labels')
    yield field.invalid(at, labels ?? null, '`selector` does not match template `labels`')
  }
  if (spec.completionMode === 'Indexed' && numberOf(spec.completions) > 0) {
    const hostname = `${name}-${numberOf(spec.completions) - 1}`
    if (isDNS1123Label(hostname).length > 0) {
      const message = `will not able to create pod with invalid DNS label: ${hostname}`
      yield field.invalid(field.Path.of('metadata', 'name'), name, message)
    }
  }
}

/** A selector and labels that the server has made are not for the author to bend. */
function* validateOwnSelector(job: JsonObject): Findings {
  const spec = specOf(job)
  if (spec.manualSelector === true || !isObject(spec.selector)) return
  const { uid, name = '' } = job.metadata as { uid: string; name?: string }
  const labels = recordOf(objectOf(objectOf(spec.template).metadata).labels)
  const expected: [string, string][] = [
    [controllerUid, uid],
    [jobName, name],
    [prefix + controllerUid, uid],
    [prefix + jobName, name],
  ]
  const path = specPath.child('template', 'metadata')
  for (const [key, value] of expected) {
    if (labels[key] === undefined) yield field.required(path.child('labels').key(key), `must be '${value}'`)
    else if (labels[key] !== value)
      yield field.invalid(path.child('labels').key(key), printed(labels), `must be '${value}'`)
  }
  const selector = selectorOf(spec)
  if (selector && selector !== Selector.nothing && !selector.matches(Object.fromEntries(expected)))
    yield field.invalid(specPath.child('selector'), printed(spec.selector), '`selector` not auto-generated')
}

function* validateJobChange(job: JsonObject, oldJob: JsonObject): Findings {
  const spec = specOf(job)
  const old = specOf(oldJob)
  const completions = specPath.child('completions')
  if (spec.completionMode !== 'Indexed') {
    yield* validateImmutable(spec.completions, old.completions, completions)
  } else if (spec.completions !== undefined && spec.completions !== old.completions) {
    if (spec.completions !== spec.parallelism)
      yield field.invalid(
        completions,
        spec.completions,
        'can only be modified in tandem with spec.parallelism',
      )
  }
  yield* validateImmutable(spec.selector, old.selector, specPath.child('selector'))
  yield* validateTemplateChange(spec, old, oldJob)
  for (const member of ['completionMode', 'backoffLimitPerIndex', 'managedBy'])
    yield* validateImmutable(spec[member], old[member], specPath.child(member))
  for (const [member, type] of [
    ['podFailurePolicy', 'PodFailurePolicy'],
    ['successPolicy', 'SuccessPolicy'],
  ] as const) {
    const shown = (value: unknown) => (isObject(value) ? goValue(type, value) : undefined)
    yield* validateImmutable(shown(spec[member]), shown(old[member]), specPath.child(member))
  }
}

/** The template is fixed; of a suspended job without pods, where its pods may run and what they need is not. */
function* validateTemplateChange(spec: JsonObject, old: JsonObject, oldJob: JsonObject): Findings {
  const status = objectOf(oldJob.status)
  const suspended = old.suspend === true
  const isMutable =
    suspended &&
    (status.startTime === undefined || isConditionTrue(status, 'Suspended')) &&
    numberOf(status.active) === 0
  const template = objectOf(spec.template)
  const before = deepClone(objectOf(old.template)) as JsonObject
  const path = specPath.child('template')
  if (!isMutable) {
    if (!deepEqual(template, before))
      yield field.invalid(path, printed(goValue('PodTemplateSpec', template)), 'field is immutable')
    return
  }
  adoptDirectives(childObject(before, 'spec'), objectOf(template.spec))
  adoptResources(childObject(before, 'spec'), objectOf(template.spec))
  if (!deepEqual(template.spec, before.spec))
    yield field.invalid(
      specPath.child('template.spec'),
      printed(goValue('PodSpec', objectOf(template.spec))),
      'field is immutable',
    )
}

function adoptDirectives(before: JsonObject, spec: JsonObject): void {
  for (const member of ['nodeSelector', 'tolerations', 'schedulingGates']) {
    if (spec[member] === undefined) delete before[member]
    else before[member] = spec[member]
  }
  const affinity: JsonObject = { ...objectOf(before.affinity) }
  const { nodeAffinity } = objectOf(spec.affinity)
  if (nodeAffinity === undefined) delete affinity.nodeAffinity
  else affinity.nodeAffinity = nodeAffinity
  if (Object.keys(affinity).length > 0 || spec.affinity !== undefined) before.affinity = affinity
  else delete before.affinity
}

function adoptResources(before: JsonObject, spec: JsonObject): void {
  for (const kind of ['containers', 'initContainers']) {
    const containers = listOf(spec[kind])
    const old = listOf(before[kind])
    if (containers.length !== old.length) continue
    for (const [index, container] of old.entries())
      if (container.name === containers[index]!.name) container.resources = containers[index]!.resources
  }
}
