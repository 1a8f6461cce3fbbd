import type { Node, PodSpec } from '@coxswain/api/core/v1'
import { isObject } from '@coxswain/apimachinery/json'
import { Quantity } from '@coxswain/apimachinery/quantity'
import { newForbidden, StatusError } from '@coxswain/apimachinery/status'
import { podRequests, readAmounts } from '@coxswain/kinds'
import type { AdmissionPlugin } from './admission.ts'
import type { Attributes } from './attributes.ts'

/** Rejects a resize beyond the node's allocatable resources, or on a node that does not support it. */
export const podResizeValidator: AdmissionPlugin = {
  name: 'PodResizeValidator',
  needs: 'pods',
  validate(attributes) {
    const { operation, resource, subresource, object, oldObject, server } = attributes
    if (operation !== 'UPDATE' || subresource !== 'resize') return
    if (resource.info.group !== '' || resource.info.resource !== 'pods' || !isObject(object?.spec)) return
    const { nodeName } = object.spec
    if (typeof nodeName !== 'string' || nodeName === '') return
    const generationOf = (metadata: unknown) => (isObject(metadata) ? metadata.generation : undefined)
    if (generationOf(object.metadata) === generationOf(oldObject?.metadata)) return
    const node = server.cache.resource('/core/nodes/').get(`/core/nodes/${nodeName}`)
    if (!node)
      throw newForbidden(resource.info, attributes.name, `node ${JSON.stringify(nodeName)} not found`)
    const os = node.labels['kubernetes.io/os'] ?? 'linux'
    if (os !== 'linux')
      throw refusal(
        attributes,
        `pod resize is only supported on linux nodes, node ${JSON.stringify(nodeName)} is ${JSON.stringify(os)}`,
        'UnsupportedPlatform',
      )
    const { status } = node.parse() as unknown as Node
    const allocatable = readAmounts(status?.allocatable)
    const requests = podRequests({ spec: object.spec as unknown as PodSpec })
    const problems: string[] = []
    for (const name of ['cpu', 'memory'] as const) {
      const wanted = requests.get(name) ?? Quantity.zero
      const there = allocatable.get(name) ?? Quantity.zero
      if (wanted.compare(there) <= 0) continue
      const print = (amount: Quantity) => (name === 'cpu' ? amount.milliValue : amount.value)
      problems.push(`${name}, requested: ${print(wanted)}, allocatable: ${print(there)}`)
    }
    if (problems.length > 0)
      throw refusal(
        attributes,
        `node didn't have enough allocatable resources: ${problems.join('; ')}`,
        'NodeCapacity',
      )
  },
}

function refusal({ resource, name }: Attributes, message: string, reason: string): StatusError {
  const { status } = newForbidden(resource.info, name, message)
  return new StatusError({ ...status, details: { ...status.details, causes: [{ reason }] } })
}
