import type { JsonObject } from '@coxswain/apimachinery/json'
import type { PrinterColumn, ResourceInfo } from '@coxswain/apimachinery/kinds'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import type { Schema } from '@coxswain/apimachinery/schema'
import { newMethodNotSupported } from '@coxswain/apimachinery/status'
import { listOf, objectOf, textOf } from '@coxswain/strategies'
import type { ResourceCache } from '../cache/resource-cache.ts'
import { createCustomConventions } from '../custom-resources/conventions.ts'
import { methodNotAllowed } from '../registry/builtin-conventions.ts'
import { createServedResource, type ServedResource } from '../registry/registry.ts'

export const metricsGroup = 'metrics.k8s.io'
export const metricsVersion = 'v1beta1'

const usage: Schema = {
  description: 'Usage by resource: cpu and memory.',
  type: 'object',
  additionalProperties: { 'x-kubernetes-int-or-string': true },
}
const measured: Readonly<Record<string, Schema>> = {
  timestamp: {
    description: 'The end of the interval that was measured.',
    type: 'string',
    format: 'date-time',
  },
  window: { description: 'The length of the interval that was measured.', type: 'string' },
}
const nodeSchema: Schema = {
  description: 'NodeMetrics is the resource usage of a node.',
  type: 'object',
  required: ['timestamp', 'window', 'usage'],
  properties: { ...measured, usage },
}
const containerSchema: Schema = {
  type: 'object',
  required: ['name', 'usage'],
  properties: { name: { description: 'The name of the container.', type: 'string' }, usage },
}
const podSchema: Schema = {
  description: 'PodMetrics is the resource usage of the containers of a Pod.',
  type: 'object',
  required: ['timestamp', 'window', 'containers'],
  properties: {
    ...measured,
    containers: { description: 'All containers of the Pod.', type: 'array', items: containerSchema },
  },
}

/** metrics-server's. */
const columns: readonly PrinterColumn[] = [
  { name: 'Name', type: 'string', format: 'name', description: 'Name of the resource', priority: 0 },
  { name: 'cpu', type: 'string', format: 'quantity', priority: 0 },
  { name: 'memory', type: 'string', format: 'quantity', priority: 0 },
  { name: 'Window', type: 'string', format: 'duration', priority: 0 },
]

function infoOf(resource: 'nodes' | 'pods', kind: string, schema: Schema): ResourceInfo {
  const version = {
    name: metricsVersion,
    served: true,
    storage: true,
    verbs: ['get', 'list'] as const,
    schema: () => schema,
    columns,
    selectableFields: [],
    subresources: [],
  }
  return {
    group: metricsGroup,
    resource,
    singular: '',
    kind,
    listKind: `${kind}List`,
    shortNames: [],
    categories: [],
    namespaced: resource === 'pods',
    versions: [version],
  }
}

/** The resources of metrics-server. A CustomResourceDefinition of the same name takes their place. */
export function createMetricsResources(cacheOf: (prefix: string) => ResourceCache): ServedResource[] {
  const infos = [infoOf('nodes', 'NodeMetrics', nodeSchema), infoOf('pods', 'PodMetrics', podSchema)]
  return infos.map(info => {
    const conventions = createCustomConventions(info)
    return createServedResource(info, {
      strategy: { cells: cellsOf },
      conventions: {
        ...conventions,
        routing: {
          ...conventions.routing,
          unsupportedVerb: (_, verb) =>
            verb === 'watch' ? newMethodNotSupported(info, verb) : methodNotAllowed(),
        },
        lastPage: {},
        typesListItems: false,
      },
      cacheOf,
    })
  })
}

function cellsOf(object: JsonObject): Readonly<Record<string, unknown>> {
  const usages = object.containers === undefined ? [object] : listOf(object.containers)
  const total = (resource: string) =>
    usages
      .map(of => parseQuantity(textOf(objectOf(of.usage)[resource])))
      .reduce((sum, quantity) => sum.add(quantity))
      .toString()
  return {
    Name: objectOf(object.metadata).name,
    cpu: total('cpu'),
    memory: total('memory'),
    Window: object.window,
  }
}
