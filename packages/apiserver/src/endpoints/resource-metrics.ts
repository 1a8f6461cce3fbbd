import type { JsonObject } from '@coxswain/apimachinery/json'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { newNotFound } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import { objectOf } from '@coxswain/strategies'
import type { WireResponse } from '@coxswain/wire'
import type { StoredObject } from '../cache/stored-object.ts'
import {
  type ClusterUsage,
  type PodUsage,
  resolution,
  type Usage,
  UsageCollector,
  type UsagePorts,
} from '../nodes/usage-collector.ts'
import { createMatcher } from '../read/matcher.ts'
import type { Reader } from '../read/read.ts'
import type { Endpoint, ServedResource } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseListOptions, validateListOptions } from '../request/list-options.ts'
import type { RequestVerb } from '../request/request-info.ts'
import type { EndpointHandler } from './endpoint-handler.ts'
import { metricsGroup, metricsVersion } from './resource-metrics-info.ts'

/** What `metrics.k8s.io` needs of the server. */
export interface ResourceMetricsPorts extends UsagePorts {
  readonly reader: Reader
  /** Those of `createMetricsResources`. */
  readonly resources: ReadonlySet<ServedResource>
}

export type FindResourceMetrics = (endpoint: Endpoint, verb: RequestVerb) => EndpointHandler | undefined

const window = `${resolution / 1000}s`

/** Finds the handlers of `nodes` and `pods` in `metrics.k8s.io`; undefined for every other resource, and for other verbs. */
export function createResourceMetrics(ports: ResourceMetricsPorts | undefined): FindResourceMetrics {
  if (!ports) return () => undefined
  const collector = new UsageCollector(ports)
  const handlers: Partial<Record<RequestVerb, EndpointHandler>> = {
    get: (context, endpoint) => getMetrics(ports, collector, { context, endpoint }),
    list: (context, endpoint) => listMetrics(ports, collector, { context, endpoint }),
  }
  return ({ resource }, verb) => (ports.resources.has(resource) ? handlers[verb] : undefined)
}

interface Asked {
  readonly context: ResourceContext
  readonly endpoint: Endpoint
}

async function getMetrics(
  ports: ResourceMetricsPorts,
  collector: UsageCollector,
  { context, endpoint }: Asked,
): Promise<WireResponse> {
  const { name, namespace } = context.info
  const view = ports.reader.view(context, endpoint)
  const { resource } = endpoint.resource.info
  await ports.reader.freshen(context, '', 0)
  const prefix = `/core/${resource}/`
  const path = namespace === '' ? name : `${namespace}/${name}`
  const object = ports.cache.resource(prefix).get(prefix + path)
  if (!object) throw newNotFound({ group: '', resource }, name)
  const metrics = describe(object, await collector.collect(), ports)
  if (!metrics) {
    const kind = endpoint.resource.info.kind.toLowerCase()
    throw newNotFound({ group: metricsGroup, resource: kind }, path)
  }
  return await view.object(200, metrics)
}

/** All at once, as metrics-server: a limit is not applied. */
async function listMetrics(
  ports: ResourceMetricsPorts,
  collector: UsageCollector,
  { context, endpoint }: Asked,
): Promise<WireResponse> {
  const { namespace } = context.info
  const view = ports.reader.view(context, endpoint)
  const options = parseListOptions(context.query)
  validateListOptions(options)
  const matcher = createMatcher(endpoint, options)
  await ports.reader.freshen(context, '', 0)
  const usage = await collector.collect()
  const prefix = `/core/${endpoint.resource.info.resource}/`
  const objects = ports.cache.resource(prefix).list(namespace === '' ? prefix : `${prefix}${namespace}/`)
  const found = objects.filter(object => matcher.matches(object))
  return view.made(
    found.map(object => describe(object, usage, ports)).filter(metrics => metrics !== undefined),
  )
}

/** Undefined where nothing is known of it. */
function describe(
  object: StoredObject,
  { nodes, pods }: ClusterUsage,
  { env }: ResourceMetricsPorts,
): JsonObject | undefined {
  const { name, namespace, labels } = object
  const isPod = namespace !== ''
  const used = isPod ? pods.get(`${namespace}/${name}`) : nodes.get(name)
  if (!used) return undefined
  const now = formatTime(env.clock.now())
  return {
    kind: isPod ? 'PodMetrics' : 'NodeMetrics',
    apiVersion: `${metricsGroup}/${metricsVersion}`,
    metadata: {
      name,
      ...(isPod && { namespace }),
      creationTimestamp: now,
      ...(Object.keys(labels).length > 0 && { labels: objectOf(labels) }),
    },
    timestamp: used.time === '' ? now : used.time,
    window,
    ...(isPod
      ? {
          containers: (used as PodUsage).containers.map(container => ({
            name: container.name,
            usage: amountsOf(container),
          })),
        }
      : { usage: amountsOf(used as Usage) }),
  }
}

/** Quantities in the forms of metrics-server. */
function amountsOf({ nanoCores, memoryBytes }: Usage): JsonObject {
  const kibibytes = memoryBytes / 1024
  const isRound = Number.isInteger(kibibytes) && kibibytes > 0
  return {
    cpu: parseQuantity(`${nanoCores}n`).toString(),
    memory: isRound ? parseQuantity(`${kibibytes}Ki`).toString() : String(memoryBytes),
  }
}
