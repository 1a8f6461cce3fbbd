import * as field from '@coxswain/apimachinery/field'
import { childObject, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { selectorFromLabels } from '@coxswain/apimachinery/selectors'
import { nameWarnings, replicaParts, workloadWarnings } from '../apps/apps.ts'
import { podTemplateCells, replicaCells } from '../apps/cells.ts'
import { defaultLabelsFromTemplate, defaultTemplate, labelsOfTemplate, specOf } from '../apps/defaults.ts'
import {
  validateEndless,
  validateNonnegatives,
  validateReplicaCounts,
  validateSelected,
} from '../apps/template.ts'
import { type Findings, objectOf, recordOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validatePodTemplate } from './pod/validation/pod-spec.ts'
import { templateWarnings } from './pod/warnings.ts'

const specPath = field.Path.of('spec')
const templatePath = field.Path.of('spec', 'template')
const counts = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
]

export const replicationControllerStrategy: Strategy = {
  cells: replicaCells,
  generation: true,
  returnsDeleted: true,
  propagation: 'orphan',
  default(object) {
    const spec = specOf(object)
    spec.replicas ??= 1
    const labels = labelsOfTemplate(spec)
    if (labels && (!isObject(spec.selector) || Object.keys(spec.selector).length === 0))
      spec.selector = { ...labels }
    defaultLabelsFromTemplate(object)
    defaultTemplate(spec)
  },
  validate: object => validateController(specOf(object)),
  validateStatusUpdate: object => [
    ...validateReplicaCounts(objectOf(object.status), counts, replicaParts, 'readyReplicas'),
  ],
  *warnings(object, old) {
    if (!old) yield* nameWarnings(object, 'Pod names and hostnames')
    yield* workloadWarnings(object, old, templatePath)
  },
}

function* validateController(spec: JsonObject): Findings {
  const selector = recordOf(spec.selector)
  yield* validateNonnegatives(spec, ['minReadySeconds'], specPath)
  if (Object.keys(selector).length === 0) yield field.required(specPath.child('selector'))
  yield* validateNonnegatives(spec, ['replicas'], specPath)
  if (!isObject(spec.template)) {
    yield field.required(templatePath)
    return
  }
  yield* validateSelected(spec.template, selectorFromLabels(selector), templatePath)
  yield* validatePodTemplate(spec.template, templatePath)
  yield* validateEndless(spec.template, 'ReplicationController', templatePath)
}

export const podTemplateStrategy: Strategy = {
  cells: podTemplateCells,
  generation: true,
  returnsDeleted: true,
  default(object) {
    if (!isObject(object.template)) object.template = {}
    const template = object.template as JsonObject
    childObject(template, 'spec')
    defaultTemplate(object)
  },
  validate: object => validatePodTemplate(objectOf(object.template), field.Path.of('template')),
  warnings: (object, old) =>
    old && objectOf(object.metadata).generation === objectOf(old.metadata).generation
      ? []
      : templateWarnings(objectOf(object.template), field.Path.of('template')),
}
