import { childObject, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { AdmissionPlugin } from './admission.ts'
import type { Attributes } from './attributes.ts'

const copied = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

/** Copies the node's zone and region labels to a Pod when it is bound, so that the Pod can read them. */
export const podTopologyLabels: AdmissionPlugin = {
  name: 'PodTopologyLabels',
  needs: 'pods',
  mutate(attributes) {
    const { operation, resource, subresource, object } = attributes
    if (operation !== 'CREATE' || !object) return
    if (resource.info.group !== '' || resource.info.resource !== 'pods') return
    const node =
      subresource === '' ? nodeOfPod(object) : subresource === 'binding' ? nodeOfBinding(object) : ''
    if (node !== '') copyLabels(attributes, object, node)
  },
}

function nodeOfPod({ spec }: JsonObject): string {
  return isObject(spec) && typeof spec.nodeName === 'string' ? spec.nodeName : ''
}

function nodeOfBinding({ target }: JsonObject): string {
  return isObject(target) && target.kind === 'Node' ? String(target.name ?? '') : ''
}

function copyLabels({ server }: Attributes, object: JsonObject, node: string): void {
  const labels = server.cache.resource('/core/nodes/').get(`/core/nodes/${node}`)?.labels ?? {}
  for (const key of copied) {
    const value = labels[key]
    if (value !== undefined) childObject(childObject(object, 'metadata'), 'labels')[key] = value
  }
}
