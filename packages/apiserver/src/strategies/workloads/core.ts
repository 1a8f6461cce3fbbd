import { childObject, isObject, type JsonObject } from '../../json.ts'
import type { Strategy } from '../../registry/strategy.ts'
import { defaultLabelsFromTemplate, defaultTemplate, labelsOfTemplate, specOf } from './defaults.ts'

export const replicationControllerStrategy: Strategy = {
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
}

export const podTemplateStrategy: Strategy = {
  generation: true,
  default(object) {
    if (!isObject(object.template)) object.template = {}
    const template = object.template as JsonObject
    childObject(template, 'spec')
    defaultTemplate(object)
  },
}
