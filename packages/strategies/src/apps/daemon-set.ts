import type { DaemonSet, DaemonSetSpec } from '@coxswain/api/apps/v1'
import * as field from '@coxswain/apimachinery/field'
import { parseInt64 } from '@coxswain/apimachinery/go'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { validateLabelSelector } from '@coxswain/apimachinery/validation'
import { workloadWarnings } from '../apps/warnings.ts'
import { validatePodTemplate } from '../core/pod/validation/pod-spec.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { childOf, fill } from '../shared/members.ts'
import { type Findings, numberOf, printed } from '../shared/reading.ts'

import { containerCells, labelsCell, selectorCell } from '../shared/workload-cells.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { defaultTemplate, specOf } from './defaults.ts'
import { validateDaemonSetStrategy } from './rollout.ts'
import {
  selectorOf,
  validateCollisions,
  validateEndless,
  validateImmutable,
  validateNonnegatives,
} from './template.ts'

const specPath = field.Path.of('spec')
const templatePath = field.Path.of('spec', 'template')

/** Deprecated: the number of changes of the template. */
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
] as const

export const daemonSetStrategy: Strategy = defineStrategy<DaemonSet>({
  cells: printDaemonSet,
  fieldAnnotations: [templateGeneration],
  generation: true,
  default(object) {
    const spec = specOf(object)
    spec.revisionHistoryLimit ??= 10
    const strategy = childOf(spec, 'updateStrategy')
    strategy.type ??= 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') {
      fill(childOf(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 })
    }
    defaultTemplate(spec)
    childOf(object.metadata, 'annotations')[templateGeneration] ??= '1'
  },
  prepareForCreate(object) {
    const annotations = childOf(object.metadata, 'annotations')
    const given = generationOf(annotations[templateGeneration])
    annotations[templateGeneration] = String(given > 1n ? given : 1n)
  },
  prepareForStatusUpdate(object, old) {
    const before = old.metadata.annotations?.[templateGeneration]
    childOf(object.metadata, 'annotations')[templateGeneration] = before ?? '1'
  },
  prepareForUpdate(object, old) {
    const before = old.metadata.annotations?.[templateGeneration] ?? '1'
    const changed = !deepEqual(specOf(object).template, specOf(old).template)
    const annotations = childOf(object.metadata, 'annotations')
    annotations[templateGeneration] = changed ? String(BigInt.asIntN(64, generationOf(before) + 1n)) : before
  },
  validate: object => validateDaemonSet(specOf(object)),
  validateUpdate: (object, old) => [
    ...validateImmutable(specOf(object).selector, specOf(old).selector, specPath.child('selector')),
  ],
  validateStatusUpdate: (object, old) => [
    ...validateNonnegatives(object.status ?? {}, daemonSetCounts, field.Path.of('status')),
    ...validateCollisions(object.status ?? {}, old.status ?? {}),
  ],
  warnings: (object, old) => workloadWarnings(object, old, templatePath),
})

function* validateDaemonSet(spec: Decoded<DaemonSetSpec>): Findings {
  const { selector } = spec
  if (selector) yield* validateLabelSelector(selector as LabelSelector, specPath.child('selector'))
  const template = spec.template ?? {}
  const selects = selectorOf(spec)
  if (selects && !selects.matches(template.metadata?.labels ?? {})) {
    const message = '`selector` does not match template `labels`'
    yield field.invalid(templatePath.child('metadata', 'labels'), template.metadata?.labels ?? null, message)
  }
  if (selector && selects?.isEmpty)
    yield field.invalid(
      specPath.child('selector'),
      printed(selector),
      'empty selector is invalid for daemonset',
    )
  yield* validatePodTemplate(template, templatePath)
  yield* validateEndless(template, 'DaemonSet', templatePath)
  yield* validateNonnegatives(spec, ['minReadySeconds'], specPath)
  yield* validateDaemonSetStrategy(spec.updateStrategy ?? {}, specPath.child('updateStrategy'))
  yield* validateNonnegatives(spec, ['revisionHistoryLimit'], specPath)
}

function printDaemonSet(object: Decoded<DaemonSet>, now: number): TableCells {
  const spec = object.spec ?? {}
  const status = object.status ?? {}
  return {
    Name: nameCell(object),
    Desired: numberOf(status.desiredNumberScheduled),
    Current: numberOf(status.currentNumberScheduled),
    Ready: numberOf(status.numberReady),
    'Up-to-date': numberOf(status.updatedNumberScheduled),
    Available: numberOf(status.numberAvailable),
    'Node Selector': labelsCell(spec.template?.spec?.nodeSelector),
    Age: ageCell(object, now),
    ...containerCells(spec.template),
    Selector: selectorCell(spec.selector),
  }
}
