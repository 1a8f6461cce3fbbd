import type { PodTemplate, PodTemplateSpec } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { defaultTemplate } from '../apps/defaults.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { nameCell } from '../shared/cells.ts'
import { childOf } from '../shared/members.ts'
import { containerCells, labelsCell } from '../shared/workload-cells.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { validatePodTemplate } from './pod/validation/pod-spec.ts'
import { templateWarnings } from './pod/warnings.ts'

export const podTemplateStrategy: Strategy = defineStrategy<PodTemplate>({
  cells: printTemplate,
  generation: true,
  returnsDeleted: true,
  default(object) {
    if (!object.template) object.template = {}
    const template = object.template as Decoded<PodTemplateSpec>
    childOf(template, 'spec')
    defaultTemplate(object)
  },
  validate: object => validatePodTemplate(object.template ?? {}, field.Path.of('template')),
  warnings: (object, old) =>
    old && object.metadata.generation === old.metadata.generation
      ? []
      : templateWarnings(object.template ?? {}, field.Path.of('template')),
})

function printTemplate(object: Decoded<PodTemplate>): TableCells {
  return {
    Name: nameCell(object),
    ...containerCells(object.template),
    'Pod Labels': labelsCell(object.template?.metadata?.labels),
  }
}
