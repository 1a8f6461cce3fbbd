import type { ReplicationController, ReplicationControllerSpec } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { selectorFromLabels } from '@coxswain/apimachinery/selectors'
import { defaultLabelsFromTemplate, defaultTemplate, labelsOfTemplate, specOf } from '../apps/defaults.ts'
import {
  replicaParts,
  validateEndless,
  validateNonnegatives,
  validateReplicaCounts,
  validateSelected,
} from '../apps/template.ts'
import { nameWarnings, workloadWarnings } from '../apps/warnings.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import type { Findings } from '../shared/reading.ts'
import { labelsCell, replicaCells } from '../shared/workload-cells.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { validatePodTemplate } from './pod/validation/pod-spec.ts'

const specPath = field.Path.of('spec')
const templatePath = field.Path.of('spec', 'template')
const counts = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
] as const

export const replicationControllerStrategy: Strategy = defineStrategy<ReplicationController>({
  cells: printController,
  generation: true,
  returnsDeleted: true,
  propagation: 'orphan',
  default(object) {
    const spec = specOf(object)
    spec.replicas ??= 1
    const labels = labelsOfTemplate(spec)
    if (labels && (!spec.selector || Object.keys(spec.selector).length === 0)) spec.selector = { ...labels }
    defaultLabelsFromTemplate(object)
    defaultTemplate(spec)
  },
  validate: object => validateController(specOf(object)),
  validateStatusUpdate: object => [
    ...validateReplicaCounts(object.status ?? {}, counts, replicaParts, 'readyReplicas'),
  ],
  *warnings(object, old) {
    if (!old) yield* nameWarnings(object, 'Pod names and hostnames')
    yield* workloadWarnings(object, old, templatePath)
  },
})

function* validateController(spec: Decoded<ReplicationControllerSpec>): Findings {
  const selector = spec.selector ?? {}
  yield* validateNonnegatives(spec, ['minReadySeconds'], specPath)
  if (Object.keys(selector).length === 0) yield field.required(specPath.child('selector'))
  yield* validateNonnegatives(spec, ['replicas'], specPath)
  if (!spec.template) {
    yield field.required(templatePath)
    return
  }
  yield* validateSelected(spec.template, selectorFromLabels(selector), templatePath)
  yield* validatePodTemplate(spec.template, templatePath)
  yield* validateEndless(spec.template, 'ReplicationController', templatePath)
}

function printController(object: Decoded<ReplicationController>, now: number): TableCells {
  return { ...replicaCells(object, now), Selector: labelsCell(object.spec?.selector) }
}
