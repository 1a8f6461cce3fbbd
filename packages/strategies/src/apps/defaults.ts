import { childObject, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { defaultPodSpec } from '../core/pod/defaults.ts'

/** Sets members that are absent. */
export function fill(object: JsonObject, defaults: JsonObject): void {
  for (const [key, value] of Object.entries(defaults)) object[key] ??= value
}

/** The pod template of a workload, by the rules of a pod. */
export function defaultTemplate(parent: JsonObject): void {
  if (isObject(parent.template)) defaultPodSpec(childObject(parent.template, 'spec'))
}

export function specOf(object: JsonObject): JsonObject {
  return childObject(object, 'spec')
}

export function labelsOfTemplate(spec: JsonObject): JsonObject | undefined {
  const metadata = isObject(spec.template) ? spec.template.metadata : undefined
  const labels = isObject(metadata) ? metadata.labels : undefined
  return isObject(labels) ? labels : undefined
}

/** Labels of the template stand in for those the author left out, as for replication controllers. */
export function defaultLabelsFromTemplate(object: JsonObject): void {
  const labels = labelsOfTemplate(specOf(object))
  const metadata = object.metadata as JsonObject
  if (labels && !isObject(metadata.labels)) metadata.labels = { ...labels }
}
