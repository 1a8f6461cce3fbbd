import type { Job, JobSpec, PodFailurePolicy, SuccessPolicy } from '@coxswain/api/batch/v1'
import type { Affinity, PodSpec, PodTemplateSpec } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepClone, deepEqual } from '@coxswain/apimachinery/json'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { Selector } from '@coxswain/apimachinery/selectors'
import { isDNS1123Label, validateLabelSelector } from '@coxswain/apimachinery/validation'
import { defaultTemplate, labelsOfTemplate, specOf } from '../apps/defaults.ts'
import { selectorOf, validateImmutable } from '../apps/template.ts'
import { nameWarnings } from '../apps/warnings.ts'
import { templateWarnings } from '../core/pod/warnings.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { goValue } from '../shared/go-value.ts'
import { childOf, fill, keep } from '../shared/members.ts'
import { type Findings, numberOf, printed, type WarningTexts } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { printJob } from './job-cells.ts'
import { validateJobSpec } from './job-spec.ts'
import { isConditionTrue, validateJobStatus } from './job-status.ts'

const specPath = field.Path.of('spec')
const unlimited = 2147483647

function defaultJob(spec: Decoded<JobSpec>): void {
  if (spec.completions === undefined && spec.parallelism === undefined)
    fill(spec, { completions: 1, parallelism: 1 })
  spec.parallelism ??= 1
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : unlimited
  fill(spec, { completionMode: 'NonIndexed', suspend: false, manualSelector: false })
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed'
  defaultConditionPatterns(spec)
  defaultTemplate(spec)
}

/** The status of a Pod condition in a failure policy defaults to True. */
export function defaultConditionPatterns(spec: Decoded<JobSpec>): void {
  for (const rule of spec.podFailurePolicy?.rules ?? [])
    for (const pattern of rule.onPodConditions ?? []) pattern.status ??= 'True'
}

const controllerUid = 'controller-uid'
const jobName = 'job-name'
const prefix = 'batch.kubernetes.io/'

export const jobStrategy: Strategy = defineStrategy<Job>({
  fields: ({ status }) => ({
    'status.successful': String((status as { succeeded?: number } | undefined)?.succeeded ?? 0),
  }),
  cells: printJob,
  generation: true,
  propagation: 'orphan',
  propagationWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  default(object) {
    const spec = specOf(object)
    defaultJob(spec)
    const labels = labelsOfTemplate(spec)
    const metadata = object.metadata
    // The very same labels: what the server adds to the template's shows in the job's too.
    if (labels && !metadata.labels) metadata.labels = labels
  },
  /** The selector is generated from the uid of the Job, unless `manualSelector` is set. */
  prepareForCreate(object) {
    const spec = specOf(object)
    if (spec.manualSelector === true) return
    const { uid, name = '' } = object.metadata as { uid: string; name?: string }
    const labels = childOf(childOf(childOf(spec, 'template'), 'metadata'), 'labels')
    fill(labels, {
      [jobName]: name,
      [prefix + jobName]: name,
      [controllerUid]: uid,
      [prefix + controllerUid]: uid,
    })
    const metadata = object.metadata
    if (!metadata.labels || metadata.labels === labels) metadata.labels = { ...labels }
    fill(childOf(childOf(spec, 'selector'), 'matchLabels'), { [prefix + controllerUid]: uid })
  },
  validate: object => validateJob(object),
  validateUpdate: (object, old) => validateJobChange(object, old),
  validateStatusUpdate: (object, old) => validateJobStatus(object, old),
  *warnings(object, old) {
    const changed = !old || object.metadata.generation !== old.metadata.generation
    if (!old) yield* nameWarnings(object, 'Pod names and hostnames')
    if (changed) yield* jobSpecWarnings(specOf(object), specPath)
  },
})

export function* jobSpecWarnings(spec: Decoded<JobSpec>, path: field.Path): WarningTexts {
  const isHuge =
    spec.completionMode === 'Indexed' &&
    numberOf(spec.completions) > 100_000 &&
    numberOf(spec.parallelism) > 10_000
  if (isHuge)
    yield `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`
  yield* templateWarnings(spec.template ?? {}, path.child('template'))
}

function* validateJob(job: Decoded<Job>): Findings {
  const spec = specOf(job)
  const name = job.metadata?.name ?? ''
  yield* validateOwnSelector(job)
  yield* validateJobSpec(spec, specPath)
  if (!spec.selector) yield field.required(specPath.child('selector'))
  else yield* validateLabelSelector(spec.selector as LabelSelector, specPath.child('selector'))
  const selector = selectorOf(spec)
  const { labels } = spec.template?.metadata ?? {}
  if (selector && !selector.matches(labels ?? {})) {
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

/** A generated selector and its labels cannot be changed. */
function* validateOwnSelector(job: Decoded<Job>): Findings {
  const spec = specOf(job)
  if (spec.manualSelector === true || !spec.selector) return
  const { uid, name = '' } = job.metadata as { uid: string; name?: string }
  const labels = spec.template?.metadata?.labels ?? {}
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

function* validateJobChange(job: Decoded<Job>, oldJob: Decoded<Job>): Findings {
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
  for (const member of ['completionMode', 'backoffLimitPerIndex', 'managedBy'] as const)
    yield* validateImmutable(spec[member], old[member], specPath.child(member))
  for (const [member, type] of [
    ['podFailurePolicy', 'batch.PodFailurePolicy'],
    ['successPolicy', 'batch.SuccessPolicy'],
  ] as const) {
    const shown = (value: Decoded<PodFailurePolicy> | Decoded<SuccessPolicy> | undefined) =>
      value ? goValue(type, value) : undefined
    yield* validateImmutable(shown(spec[member]), shown(old[member]), specPath.child(member))
  }
}

/** The template is immutable, except for the scheduling directives and resources of a suspended Job without Pods. */
function* validateTemplateChange(
  spec: Decoded<JobSpec>,
  old: Decoded<JobSpec>,
  oldJob: Decoded<Job>,
): Findings {
  const status = oldJob.status ?? {}
  const suspended = old.suspend === true
  const isMutable =
    suspended &&
    (status.startTime === undefined || isConditionTrue(status, 'Suspended')) &&
    numberOf(status.active) === 0
  const template = spec.template ?? {}
  const before = deepClone(old.template ?? {}) as Decoded<PodTemplateSpec>
  const path = specPath.child('template')
  if (!isMutable) {
    if (!deepEqual(template, before))
      yield field.invalid(path, printed(goValue('core.PodTemplateSpec', template)), 'field is immutable')
    return
  }
  adoptDirectives(childOf(before, 'spec'), template.spec ?? {})
  adoptResources(childOf(before, 'spec'), template.spec ?? {})
  if (!deepEqual(template.spec, before.spec))
    yield field.invalid(
      specPath.child('template.spec'),
      printed(goValue('core.PodSpec', template.spec ?? {})),
      'field is immutable',
    )
}

function adoptDirectives(before: Decoded<PodSpec>, spec: Decoded<PodSpec>): void {
  keep(before, spec, ['nodeSelector', 'tolerations', 'schedulingGates'])
  const affinity: Decoded<Affinity> = { ...before.affinity }
  const { nodeAffinity } = spec.affinity ?? {}
  if (nodeAffinity === undefined) delete affinity.nodeAffinity
  else affinity.nodeAffinity = nodeAffinity
  if (Object.keys(affinity).length > 0 || spec.affinity !== undefined) before.affinity = affinity
  else delete before.affinity
}

function adoptResources(before: Decoded<PodSpec>, spec: Decoded<PodSpec>): void {
  for (const kind of ['containers', 'initContainers'] as const) {
    const containers = spec[kind] ?? []
    const old = before[kind] ?? []
    if (containers.length !== old.length) continue
    for (const [index, container] of old.entries())
      if (container.name === containers[index]!.name) keep(container, containers[index]!, ['resources'])
  }
}
