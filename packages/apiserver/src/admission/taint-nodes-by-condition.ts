import { childObject, isObject } from '@coxswain/apimachinery/json'
import type { AdmissionPlugin } from './admission.ts'

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

/** Taints a new Node as not ready until the node lifecycle controller finds it ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  needs: 'nodes',
  mutate({ operation, resource, subresource, object }) {
    const { group, resource: name } = resource.info
    if (operation !== 'CREATE' || group !== '' || name !== 'nodes' || subresource !== '' || !object) return
    const spec = childObject(object, 'spec')
    const taints = Array.isArray(spec.taints) ? spec.taints.filter(isObject) : []
    if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return
    spec.taints = [...taints, { ...notReady }]
  },
}
