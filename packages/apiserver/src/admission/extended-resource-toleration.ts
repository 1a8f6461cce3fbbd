import { childObject, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { isExtendedResource } from '@coxswain/kinds'
import { type AdmissionPlugin, isPodWrite } from './admission.ts'

/** A Pod that requests an extended resource tolerates the taint of that name on the nodes that have it. Off by default. */
export const extendedResourceToleration: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  mutate(attributes) {
    if (!isPodWrite(attributes, 'CREATE', 'UPDATE') || !attributes.object) return
    const spec = childObject(attributes.object, 'spec')
    const containers = [spec.containers, spec.initContainers].flatMap(list =>
      Array.isArray(list) ? list : [],
    )
    const names = new Set(containers.filter(isObject).flatMap(requestedNames).filter(isExtendedResource))
    const tolerations: JsonObject[] = Array.isArray(spec.tolerations) ? spec.tolerations.filter(isObject) : []
    const tolerated = new Set(
      tolerations
        .filter(({ operator, effect }) => operator === 'Exists' && effect === 'NoSchedule')
        .map(({ key }) => key),
    )
    for (const key of [...names].sort())
      if (!tolerated.has(key)) tolerations.push({ key, operator: 'Exists', effect: 'NoSchedule' })
    if (tolerations.length > 0) spec.tolerations = tolerations
  },
}

function requestedNames({ resources }: JsonObject): string[] {
  return isObject(resources) && isObject(resources.requests) ? Object.keys(resources.requests) : []
}
