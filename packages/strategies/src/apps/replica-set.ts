import type { ReplicaSet } from '@coxswain/api/apps/v1'
import * as field from '@coxswain/apimachinery/field'
import { nameWarnings, workloadWarnings } from '../apps/warnings.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { replicaCells, selectorCell } from '../shared/workload-cells.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { defaultTemplate, specOf } from './defaults.ts'
import {
  replicaParts,
  validateImmutable,
  validateNonnegatives,
  validateReplicaCounts,
  validateReplicaTemplate,
  validateSelector,
} from './template.ts'

const specPath = field.Path.of('spec')
const templatePath = field.Path.of('spec', 'template')

const replicaSetCounts = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
  'terminatingReplicas',
] as const

export const replicaSetStrategy: Strategy = defineStrategy<ReplicaSet>({
  cells: printReplicaSet,
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
    ...validateReplicaCounts(object.status ?? {}, replicaSetCounts, replicaParts, 'readyReplicas'),
  ],
  *warnings(object, old) {
    if (!old) yield* nameWarnings(object, 'Pod names and hostnames')
    yield* workloadWarnings(object, old, templatePath)
  },
})

function printReplicaSet(object: Decoded<ReplicaSet>, now: number): TableCells {
  return { ...replicaCells(object, now), Selector: selectorCell(object.spec?.selector) }
}
