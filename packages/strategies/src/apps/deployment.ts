import type { Deployment, DeploymentSpec } from '@coxswain/api/apps/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { nameWarnings, workloadWarnings } from '../apps/warnings.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { childOf, fill } from '../shared/members.ts'
import { type Findings, numberOf } from '../shared/reading.ts'

import { containerCells, selectorCell } from '../shared/workload-cells.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { defaultTemplate, specOf } from './defaults.ts'
import { validateDeploymentStrategy } from './rollout.ts'
import {
  validateCollisions,
  validateImmutable,
  validateNonnegatives,
  validateReplicaCounts,
  validateReplicaTemplate,
  validateSelector,
} from './template.ts'

const specPath = field.Path.of('spec')
const templatePath = field.Path.of('spec', 'template')

const deploymentCounts = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
] as const

export const deploymentStrategy: Strategy = defineStrategy<Deployment>({
  cells: printDeployment,
  generation: true,
  default(object) {
    const spec = specOf(object)
    fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
    const strategy = childOf(spec, 'strategy')
    strategy.type ??= 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') {
      fill(childOf(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' })
    }
    defaultTemplate(spec)
  },
  /** The controller reads annotations too, so a change of them increments the generation. */
  prepareForUpdate(object, old) {
    const metadata = object.metadata
    const before = old.metadata
    if (!deepEqual(metadata.annotations ?? {}, before.annotations ?? {}))
      metadata.generation = Number(before.generation ?? 0) + 1
  },
  validate: object => validateDeployment(specOf(object)),
  validateUpdate: (object, old) => [
    ...validateImmutable(specOf(object).selector, specOf(old).selector, specPath.child('selector')),
  ],
  prepareForStatusUpdate(object, old) {
    const metadata = object.metadata
    const { labels } = old.metadata
    if (labels === undefined) delete metadata.labels
    else metadata.labels = labels
  },
  validateStatusUpdate(object, old) {
    const status = object.status ?? {}
    const parts = ['updatedReplicas', 'readyReplicas', 'availableReplicas'] as const
    return [
      ...validateReplicaCounts(status, deploymentCounts, parts, 'readyReplicas'),
      ...validateCollisions(status, old.status ?? {}),
    ]
  },
  *warnings(object, old) {
    if (!old) yield* nameWarnings(object, 'Pod names and hostnames')
    yield* workloadWarnings(object, old, templatePath)
  },
})

function* validateDeployment(spec: Decoded<DeploymentSpec>): Findings {
  yield* validateNonnegatives(spec, ['replicas'], specPath)
  yield* validateSelector(spec, 'deployment', specPath)
  yield* validateReplicaTemplate(spec, specPath)
  yield* validateDeploymentStrategy(spec.strategy ?? {}, specPath.child('strategy'))
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

function printDeployment(object: Decoded<Deployment>, now: number): TableCells {
  const spec = object.spec ?? {}
  const status = object.status ?? {}
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
