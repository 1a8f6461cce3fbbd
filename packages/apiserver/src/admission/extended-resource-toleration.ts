import { childObject, isObject, type JsonObject } from '../json.ts'
import { type AdmissionPlugin, isPodWrite } from './admission.ts'

/** A pod that asks for a device may run on nodes that are kept for it by a taint of its name. Off by default. */
export const extendedResourceToleration: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  mutate(attributes) {
    if (!isPodWrite(attributes, 'CREATE', 'UPDATE') || !attributes.object) return
    const spec = childObject(attributes.object, 'spec')
    const containers = [spec.containers, spec.initContainers].flatMap(list =>
      Array.isArray(list) ? list : [],
    )
    const names = new Set(containers.filter(isObject).flatMap(requestedNames).filter(isExtended))
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

/** A name with a domain that is not Kubernetes' own. */
function isExtended(name: string): boolean {
  const [domain = ''] = name.split('/')
  return (
    name.includes('/') &&
    domain !== 'kubernetes.io' &&
    !domain.endsWith('.kubernetes.io') &&
    !name.startsWith('requests.')
  )
}
