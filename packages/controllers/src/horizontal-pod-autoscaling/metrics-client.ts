import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { isNotFound } from '@coxswain/apimachinery/status'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import type { Client, QueryValues } from '@coxswain/client'

/** The usage of a pod, in milli-units, over `window` milliseconds before `timestamp`. */
export interface PodMetric {
  readonly value: number
  readonly timestamp: number
  readonly window: number
}

/** By pod. */
export type PodMetrics = Map<string, PodMetric>

interface ResourceMetrics {
  readonly items?: readonly {
    readonly metadata: { readonly name: string }
    readonly timestamp: string
    readonly window: string
    readonly containers?: readonly {
      readonly name: string
      readonly usage: Readonly<Record<string, string>>
    }[]
  }[]
}

interface CustomMetrics {
  readonly items?: readonly {
    readonly describedObject: { readonly name: string }
    readonly timestamp: string
    readonly windowSeconds?: number
    readonly value: string
  }[]
}

interface ExternalMetrics {
  readonly items?: readonly { readonly value: string }[]
}

const customVersions = ['v1beta2', 'v1beta1']

/** Reads the metrics APIs, which other servers provide. Error messages are upstream's. */
export class MetricsClient {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /** Of one container, or of all of a pod's together; pods without the resource are omitted. */
  async resource(name: string, namespace: string, selector: string, container = ''): Promise<PodMetrics> {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`
    const { items = [] } = (await this.#fetch('resource', path, {
      labelSelector: selector,
    })) as ResourceMetrics
    if (items.length === 0) throw new Error('no metrics returned from resource metrics API')
    const metrics: PodMetrics = new Map()
    for (const { metadata, timestamp, window, containers = [] } of items) {
      const usages = containers
        .filter(each => container === '' || each.name === container)
        .map(({ usage }) => usage[name])
      if (usages.length === 0 || usages.includes(undefined)) continue
      metrics.set(metadata.name, {
        value: usages.reduce((sum, usage) => sum + milli(usage!), 0),
        timestamp: Date.parse(timestamp),
        window: durationToMilliseconds(parseDuration(window)),
      })
    }
    return metrics
  }

  /** A metric of the pods themselves. */
  async pods(
    metric: string,
    namespace: string,
    selector: string,
    metricSelector: string,
  ): Promise<PodMetrics> {
    const { items = [] } = await this.#custom(
      `namespaces/${namespace}/pods/*/${encodeURIComponent(metric)}`,
      {
        labelSelector: selector,
        ...(metricSelector && { metricLabelSelector: metricSelector }),
      },
    )
    if (items.length === 0) throw new Error('no metrics returned from custom metrics API')
    return new Map(
      items.map(({ describedObject, timestamp, windowSeconds = 60, value }) => [
        describedObject.name,
        { value: milli(value), timestamp: Date.parse(timestamp), window: windowSeconds * 1_000 },
      ]),
    )
  }

  /** A metric of one object, in milli-units. `resource` is `services` or `deployments.apps`. */
  async object(
    metric: string,
    {
      namespace,
      resource,
      name,
    }: { readonly namespace: string; readonly resource: string; readonly name: string },
    metricSelector: string,
  ): Promise<number> {
    const where =
      resource === 'namespaces'
        ? `namespaces/${namespace}/metrics`
        : `namespaces/${namespace}/${resource}/${encodeURIComponent(name)}`
    const { items = [] } = await this.#custom(`${where}/${encodeURIComponent(metric)}`, {
      ...(metricSelector && { metricLabelSelector: metricSelector }),
    })
    const [first] = items
    if (!first)
      throw new Error(
        'unable to fetch metrics from custom metrics API: the custom metrics API server returned 0 results when we asked for exactly one',
      )
    return milli(first.value)
  }

  /** All values of a metric that belongs to no object of the cluster, in milli-units. */
  async external(metric: string, namespace: string, metricSelector: string): Promise<number[]> {
    const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${encodeURIComponent(metric)}`
    const query = metricSelector ? { labelSelector: metricSelector } : {}
    const { items = [] } = (await this.#fetch('external', path, query)) as ExternalMetrics
    if (items.length === 0) throw new Error('no metrics returned from external metrics API')
    return items.map(({ value }) => milli(value))
  }

  async #custom(path: string, query: QueryValues): Promise<CustomMetrics> {
    let failure: unknown
    for (const version of customVersions) {
      try {
        return (await this.#fetch(
          'custom',
          `/apis/custom.metrics.k8s.io/${version}/${path}`,
          query,
        )) as CustomMetrics
      } catch (error) {
        failure ??= error
        if (!isNotFound((error as Error).cause)) break
      }
    }
    throw failure
  }

  async #fetch(api: string, path: string, query: QueryValues): Promise<unknown> {
    try {
      return await this.#client.raw.request({ path, query })
    } catch (error) {
      const { message } = error as Error
      const said = generic.includes(message) ? `${message} (get ${resourceOf(path)})` : message
      throw new Error(`unable to fetch metrics from ${api} metrics API: ${said}`, { cause: error })
    }
  }
}

/** client-go's message for a response that has only a status code; it adds what was requested. */
const generic = [
  'the server could not find the requested resource',
  'the server is currently unable to handle the request',
]

/** `/apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE...` as `RESOURCE.GROUP`. */
function resourceOf(path: string): string {
  const [, , group, , , , resource] = path.split('/')
  return `${resource}.${group}`
}

function milli(value: string): number {
  return Number(parseQuantity(value).milliValue)
}
