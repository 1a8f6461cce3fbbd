import { isObject } from '@coxswain/apimachinery/json'
import { newForbidden } from '@coxswain/apimachinery/status'
import { type AdmissionPlugin, isPodWrite } from './admission.ts'

const hostname = 'kubernetes.io/hostname'

/** Limits required anti-affinity to the topology of a single node. Off by default. */
export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  needs: 'pods',
  validate(attributes) {
    if (!isPodWrite(attributes, 'CREATE', 'UPDATE') || !isObject(attributes.object?.spec)) return
    const { affinity } = attributes.object.spec
    const anti = isObject(affinity) ? affinity.podAntiAffinity : undefined
    const terms = isObject(anti) ? anti.requiredDuringSchedulingIgnoredDuringExecution : undefined
    for (const term of Array.isArray(terms) ? terms.filter(isObject) : []) {
      if (term.topologyKey === hostname) continue
      throw newForbidden(
        attributes.resource.info,
        attributes.name,
        `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${term.topologyKey} but only key ${hostname} is allowed`,
      )
    }
  },
}
