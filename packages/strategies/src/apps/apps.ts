import * as field from '@coxswain/apimachinery/field'
import { parseInt64 } from '@coxswain/apimachinery/go'
import { childObject, deepEqual, isObject, type JsonObject, writeJson } from '@coxswain/apimachinery/json'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { isDNS1123Label, validateLabelSelector } from '@coxswain/apimachinery/validation'
import { validatePodTemplate } from '../core/pod/validation/pod-spec.ts'
import { templateWarnings } from '../core/pod/warnings.ts'
import { type Findings, objectOf, printed, recordOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { controllerRevisionCells, daemonSetCells, deploymentCells, replicaCells } from './cells.ts'
import { defaultTemplate, fill, specOf } from './defaults.ts'
import { validateDaemonSetStrategy, validateDeploymentStrategy } from './rollout.ts'
import {
  selectorOf,
  validateCollisions,
  validateEndless,
  validateImmutable,
  validateNonnegatives,
  validateReplicaCounts,
  validateReplicaTemplate,
  validateSelector,
} from './template.ts'

const specPath = field.Path.of('spec')
const templatePath = field.Path.of('spec', 'template')

/** A name that becomes part of host names should be one label; `what` it is used in. */
export function nameWarnings(object: JsonObject, what: string): string[] {
  const messages = isDNS1123Label(String(objectOf(object.metadata).name ?? ''))
  if (messages.length === 0) return []
  return [
    `metadata.name: this is used in ${what}, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`,
  ]
}

/** Warnings about a workload's pods: for new ones, and where something has changed. */
export function workloadWarnings(
  object: JsonObject,
  old: JsonObject | undefined,
  path: field.Path,
): Iterable<string> {
  if (old && objectOf(object.metadata).generation === objectOf(old.metadata).generation) return []
  return templateWarnings(objectOf(specOf(object).template), path)
}

const deploymentCounts = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
]

export const deploymentStrategy: Strategy = {
  cells: deploymentCells,
  generation: true,
  default(object) {
    const spec = specOf(object)
    fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
    const strategy = childObject(spec, 'strategy')
    strategy.type ??= 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') {
      fill(childObject(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' })
    }
    defaultTemplate(spec)
  },
  /** Annotations tell the controller things too, so a change of them counts as one of the wishes. */
  prepareForUpdate(object, old) {
    const metadata = objectOf(object.metadata)
    const before = objectOf(old.metadata)
    if (!deepEqual(metadata.annotations ?? {}, before.annotations ?? {}))
      metadata.generation = Number(before.generation ?? 0) + 1
  },
  validate: object => validateDeployment(specOf(object)),
  validateUpdate: (object, old) => [
    ...validateImmutable(specOf(object).selector, specOf(old).selector, specPath.child('selector')),
  ],
  prepareForStatusUpdate(object, old) {
    const metadata = objectOf(object.metadata)
    const { labels } = objectOf(old.metadata)
    if (labels === undefined) delete metadata.labels
    else metadata.labels = labels
  },
  validateStatusUpdate(object, old) {
    const status = objectOf(object.status)
    const parts = ['updatedReplicas', 'readyReplicas', 'availableReplicas']
    return [
      ...validateReplicaCounts(status, deploymentCounts, parts, 'readyReplicas'),
      ...validateCollisions(status, objectOf(old.status)),
    ]
  },
  *warnings(object, old) {
    if (!old) yield* nameWarnings(object, 'Pod names and hostnames')
    yield* workloadWarnings(object, old, templatePath)
  },
}

function* validateDeployment(spec: JsonObject): Findings {
  yield* validateNonnegatives(spec, ['replicas'], specPath)
  yield* validateSelector(spec, 'deployment', specPath)
  yield* validateReplicaTemplate(spec, specPath)
  yield* validateDeploymentStrategy(objectOf(spec.strategy), specPath.child('strategy'))
  yield* validateNonnegatives(
    spec,
    ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'],
    specPath,
  )
  const deadline = Number(spec.progressDeadlineSeconds ?? 0)
  if (spec.progressDeadlineSeconds !== undefined && deadline <= Number(spec.minReadySeconds ?? 0)) {
    const message = 'must be greater than minReadySeconds'
    yield field.invalid(specPath.child('progressDeadlineSeconds'), deadline, message)
  }
}

const replicaSetCounts = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
  'terminatingReplicas',
]
export const replicaParts: readonly string[] = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']

export const replicaSetStrategy: Strategy = {
  cells: replicaCells,
  generation: true,
  default(object) {
    const spec = specOf(object)
    spec.replicas ??= 1
    defaultTemplate(spec)
  },
  validate(object) {
    const spec = specOf(object)
    return [
      ...validateNonnegatives(spec, ['replicas', 'minReadySeconds'], specPath),
      ...validateSelector(spec, 'deployment', specPath),
      ...validateReplicaTemplate(spec, specPath),
    ]
  },
  validateUpdate: (object, old) => [
    ...validateImmutable(specOf(object).selector, specOf(old).selector, specPath.child('selector')),
  ],
  validateStatusUpdate: object => [
    ...validateReplicaCounts(objectOf(object.status), replicaSetCounts, replicaParts, 'readyReplicas'),
  ],
  *warnings(object, old) {
    if (!old) yield* nameWarnings(object, 'Pod names and hostnames')
    yield* workloadWarnings(object, old, templatePath)
  },
}

/** A relic that the kind still carries: how often its template has changed. */
const templateGeneration = 'deprecated.daemonset.template.generation'

const generationOf = (text: unknown): bigint => parseInt64(String(text)) ?? 0n

const daemonSetCounts = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
]

export const daemonSetStrategy: Strategy = {
  cells: daemonSetCells,
  fieldAnnotations: [templateGeneration],
  generation: true,
  default(object) {
    const spec = specOf(object)
    spec.revisionHistoryLimit ??= 10
    const strategy = childObject(spec, 'updateStrategy')
    strategy.type ??= 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') {
      fill(childObject(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 })
    }
    defaultTemplate(spec)
    childObject(object.metadata as JsonObject, 'annotations')[templateGeneration] ??= '1'
  },
  prepareForCreate(object) {
    const annotations = childObject(object.metadata as JsonObject, 'annotations')
    const given = generationOf(annotations[templateGeneration])
    annotations[templateGeneration] = String(given > 1n ? given : 1n)
  },
  prepareForStatusUpdate(object, old) {
    const before = recordOf(objectOf(old.metadata).annotations)[templateGeneration]
    childObject(object.metadata as JsonObject, 'annotations')[templateGeneration] = before ?? '1'
  },
  prepareForUpdate(object, old) {
    const before = recordOf(objectOf(old.metadata).annotations)[templateGeneration] ?? '1'
    const changed = !deepEqual(specOf(object).template, specOf(old).template)
    const annotations = childObject(object.metadata as JsonObject, 'annotations')
    annotations[templateGeneration] = changed ? String(BigInt.asIntN(64, generationOf(before) + 1n)) : before
  },
  validate: object => validateDaemonSet(specOf(object)),
  validateUpdate: (object, old) => [
    ...validateImmutable(specOf(object).selector, specOf(old).selector, specPath.child('selector')),
  ],
  validateStatusUpdate: (object, old) => [
    ...validateNonnegatives(objectOf(object.status), daemonSetCounts, field.Path.of('status')),
    ...validateCollisions(objectOf(object.status), objectOf(old.status)),
  ],
  warnings: (object, old) => workloadWarnings(object, old, templatePath),
}

function* validateDaemonSet(spec: JsonObject): Findings {
  const { selector } = spec
  if (isObject(selector)) yield* validateLabelSelector(selector as LabelSelector, specPath.child('selector'))
  const template = objectOf(spec.template)
  const selects = selectorOf(spec)
  if (selects && !selects.matches(recordOf(objectOf(template.metadata).labels))) {
    const message = '`selector` does not match template `labels`'
    yield field.invalid(
      templatePath.child('metadata', 'labels'),
      objectOf(template.metadata).labels ?? null,
      message,
    )
  }
  if (isObject(selector) && selects?.isEmpty)
    yield field.invalid(
      specPath.child('selector'),
      printed(selector),
      'empty selector is invalid for daemonset',
    )
  yield* validatePodTemplate(template, templatePath)
  yield* validateEndless(template, 'DaemonSet', templatePath)
  yield* validateNonnegatives(spec, ['minReadySeconds'], specPath)
  yield* validateDaemonSetStrategy(objectOf(spec.updateStrategy), specPath.child('updateStrategy'))
  yield* validateNonnegatives(spec, ['revisionHistoryLimit'], specPath)
}

export const controllerRevisionStrategy: Strategy = {
  cells: controllerRevisionCells,
  validate: (object, _context, old) => [
    ...validateNonnegatives(object, ['revision'], field.Path.root),
    ...(old ? [] : validateRevisionData(object.data)),
  ],
  rawMember: 'data',
  validateUpdate: (object, old) =>
    writeJson(object.data) === writeJson(old.data)
      ? []
      : [field.invalid(field.Path.of('data'), printed(object.data ?? null), 'field is immutable')],
}

function* validateRevisionData(data: unknown): Findings {
  const path = field.Path.of('data')
  if (data === undefined || data === null) yield field.required(path, 'data is mandatory')
  else if (!isObject(data)) yield field.required(path, 'data must be a valid JSON object')
}
