import type { Clock } from '@coxswain/kit'
import type { BoundCounter, BoundHistogram, Counter, Histogram, MetricsRegistry } from '@coxswain/kit/metrics'
import { isStream, type WireBody, type WireResponse } from '@coxswain/wire'
import type { Documents } from '../discovery/documents.ts'
import type { Registry } from '../registry/registry.ts'
import type { RequestContext } from '../request/context.ts'
import type { Filter } from '../request/filter.ts'
import { isLongRunning } from '../request/long-running.ts'
import { whenOver } from '../request/response.ts'

const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
const sizeBuckets = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
const component = 'apiserver'
/** CRDs come and go: label combinations beyond this number are counted together. */
const maxKinds = 5_000
const knownMethods = new Set([
  'APPLY',
  'CONNECT',
  'DELETE',
  'DELETECOLLECTION',
  'GET',
  'LIST',
  'PATCH',
  'POST',
  'PUT',
  'WATCH',
])

/** The metrics of one combination of labels. */
interface Kind {
  readonly labels: readonly [
    verb: string,
    group: string,
    version: string,
    resource: string,
    subresource: string,
    scope: string,
  ]
  readonly dryRun: string
  readonly duration: BoundHistogram
  readonly size: BoundHistogram | undefined
  readonly codes: Map<number, BoundCounter>
}

/** What the filter registers its metrics with, and takes their labels from. */
export interface RequestMetricsPorts {
  readonly metrics: MetricsRegistry
  readonly clock: Clock
  readonly registry: Registry
  readonly documents: Documents
}

/** Counts requests under upstream's metric names. The outermost filter: it sees every response. */
export function createRequestMetrics(ports: RequestMetricsPorts): Filter {
  const { metrics, clock, registry, documents } = ports
  const shared = ['group', 'version', 'resource', 'subresource', 'scope', 'component']
  const total: Counter = metrics.counter({
    name: 'apiserver_request_total',
    help: 'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
    labels: ['verb', 'dry_run', ...shared, 'code'],
  })
  const durations: Histogram = metrics.histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
    labels: ['verb', 'dry_run', ...shared],
    buckets: durationBuckets,
  })
  const sizes: Histogram = metrics.histogram({
    name: 'apiserver_response_sizes',
    help: 'Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.',
    labels: ['verb', ...shared],
    buckets: sizeBuckets,
  })
  const longRunning = metrics.gauge({
    name: 'apiserver_longrunning_requests',
    help: 'Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.',
    labels: ['verb', ...shared],
  })
  const kinds = new Map<string, Kind>()
  /** All combinations over the limit. */
  let rest: Kind | undefined

  /** Every label is one of a known set, or comes from the registry: none contains text of the request. */
  function labelsOf({ info, path, request }: RequestContext): Kind['labels'] {
    if (!info.isResource) {
      return [methodOf(request.method), '', '', '', documents.knownPath(path.segments) ?? '', '']
    }
    const scope =
      info.name !== '' || info.verb === 'create'
        ? 'resource'
        : info.namespace !== ''
          ? 'namespace'
          : 'cluster'
    const isServed = registry.find(info.group, info.version, info.resource) !== undefined
    const verb = connections.has(info.subresource)
      ? 'CONNECT'
      : info.verb === 'watch'
        ? 'WATCH'
        : info.verb === 'list'
          ? 'LIST'
          : verbOf(request.method, info.verb)
    if (!isServed) return [verb, '', '', '', '', scope]
    const subresource = knownSubresource(info.subresource)
    return [verb, info.group, info.version, info.resource, subresource, scope]
  }

  function kindOf(context: RequestContext): Kind {
    const labels = labelsOf(context)
    const dryRun = context.query.get('dryRun') ?? ''
    const shown = dryRun === '' ? '' : 'All'
    const [first, group, version, resource, subresource, scope] = labels
    const key = `${first}/${group}/${version}/${resource}/${subresource}/${scope}/${shown}`
    let kind = kinds.get(key)
    if (kind) return kind
    if (kinds.size >= maxKinds) {
      rest ??= createKind(['other', '', '', '', '', ''], '')
      return rest
    }
    kind = createKind(labels, shown)
    kinds.set(key, kind)
    return kind
  }

  function createKind(labels: Kind['labels'], shown: string): Kind {
    const [verb, ...rest] = labels
    return {
      labels,
      dryRun: shown,
      duration: durations.with(verb, shown, ...rest, component),
      size: verb === 'GET' || verb === 'LIST' ? sizes.with(verb, ...rest, component) : undefined,
      codes: new Map(),
    }
  }

  function count(kind: Kind, status: number, seconds: number): void {
    let code = kind.codes.get(status)
    if (!code) {
      const [verb, ...rest] = kind.labels
      code = total.with(verb, kind.dryRun, ...rest, component, String(status))
      kind.codes.set(status, code)
    }
    code.add(1)
    kind.duration.observe(seconds)
  }

  return (context, next) => {
    const started = clock.monotonic()
    const kind = kindOf(context)
    const answer = next(context)
    return answer instanceof Promise
      ? answer.then(response => finishOf(context, kind, response, started))
      : finishOf(context, kind, answer, started)
  }

  function finishOf(
    context: RequestContext,
    kind: Kind,
    response: WireResponse,
    started: number,
  ): WireResponse {
    const finish = () => count(kind, response.status, (clock.monotonic() - started) / 1_000)
    const over = () => {
      longRunning.add(-1, ...kind.labels, component)
      finish()
    }
    const { request } = context
    const long = isLongRunning(context.info) ? whenOver(response, () => request.signal, over) : undefined
    if (long) {
      longRunning.add(1, ...kind.labels, component)
      return long
    }
    const length = lengthOf(response.body)
    if (length !== undefined) kind.size?.observe(length)
    finish()
    return response
  }
}

function lengthOf(body: WireBody | undefined): number | undefined {
  if (body === undefined) return 0
  if (body instanceof Uint8Array) return body.length
  if (isStream(body)) return undefined
  return body.reduce((sum, { length }) => sum + length, 0)
}

/** Requests to a node or its Pods are counted as CONNECT, whatever the method. */
const connections = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

const subresources = new Set(
  'approval attach binding ephemeralcontainers eviction exec finalize log portforward proxy resize scale status token'.split(
    ' ',
  ),
)

const knownSubresource = (name: string) => (subresources.has(name) ? name : '')

function verbOf(method: string, verb: string): string {
  return verb === 'deletecollection' ? 'DELETECOLLECTION' : methodOf(method === 'HEAD' ? 'GET' : method)
}

const methodOf = (method: string) => (knownMethods.has(method) ? method : 'other')
