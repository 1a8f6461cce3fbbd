import type { PodTemplateSpec } from '@coxswain/api/core/v1'
import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import { defaultPodSpec } from '../core/pod/defaults.ts'
import type { Decoded } from '../decoded.ts'
import { childOf } from '../shared/members.ts'

interface WithTemplate {
  template?: Decoded<PodTemplateSpec>
}

/** The pod template of a workload, by the rules of a pod. */
export function defaultTemplate({ template }: WithTemplate): void {
  if (template) defaultPodSpec(childOf(template, 'spec'))
}

/** The spec of an object, put there when there is none. */
export const specOf = <S extends object>(object: { spec?: S }): S => childOf(object, 'spec') as S

export const labelsOfTemplate = ({ template }: WithTemplate): Record<string, string> | undefined =>
  template?.metadata?.labels ?? undefined

/** Labels of the template stand in for those the author left out, as for replication controllers. */
export function defaultLabelsFromTemplate(object: {
  metadata: Decoded<ObjectMeta>
  spec?: WithTemplate
}): void {
  const labels = labelsOfTemplate(object.spec ?? {})
  if (labels && !object.metadata.labels) object.metadata.labels = { ...labels }
}
