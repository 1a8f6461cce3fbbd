import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { memberOf } from './member.ts'
import type { TemplateText } from './template-text.ts'

const nameLabel = 'app.kubernetes.io/name'
const instanceLabel = 'app.kubernetes.io/instance'

/**
 * Labels of a release: on the object itself, and the instance wherever Pods are labelled or selected, so that two releases in one namespace do
 * not select each other's Pods.
 */
export function labelObject(object: JsonObject, project: string, template: TemplateText): JsonObject {
  const instance = template.expression('.Release.Name')
  const own = memberOf(object, 'metadata')
  const labels = {
    ...memberOf(own, 'labels'),
    'helm.sh/chart': template.expression(`include "${project}.chart" .`),
    [nameLabel]: template.expression(`include "${project}.name" .`),
    [instanceLabel]: instance,
    'app.kubernetes.io/version': template.expression('.Chart.AppVersion | quote'),
    'app.kubernetes.io/managed-by': template.expression('.Release.Service'),
  }
  const spec = addInstance(object.spec, project, instance)
  return { ...object, metadata: { ...own, labels }, ...(spec !== undefined && { spec }) } as JsonObject
}

/** Adds the instance to every map below that selects or labels by the project's name. */
function addInstance(value: unknown, project: string, instance: string): unknown {
  if (Array.isArray(value)) return value.map(each => addInstance(each, project, instance))
  if (!isObject(value)) return value
  const mapped = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, addInstance(each, project, instance)]),
  )
  return mapped[nameLabel] === project ? { ...mapped, [instanceLabel]: instance } : mapped
}
