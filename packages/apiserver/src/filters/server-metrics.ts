import type { MetricsRegistry } from '@coxswain/kit/metrics'
import type { Registry } from '../registry/registry.ts'
import type { InFlight } from './limits.ts'

/** Gauges of what the server holds, updated when they are read. */
export function registerServerMetrics(
  metrics: MetricsRegistry,
  registry: Registry,
  inFlight: InFlight,
): void {
  const current = metrics.gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Maximal number of currently used inflight request limit of this apiserver per request kind in last second.',
    labels: ['request_kind'],
  })
  const stored = metrics.gauge({
    name: 'apiserver_storage_objects',
    help: '[DEPRECATED, consider using apiserver_resource_objects instead] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.',
    labels: ['resource'],
  })
  const resources = metrics.gauge({
    name: 'apiserver_resource_objects',
    help: 'Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.',
    labels: ['group', 'resource'],
  })
  const watchers = metrics.gauge({
    name: 'apiserver_registered_watchers',
    help: 'Number of currently registered watchers for a given resource',
    labels: ['group', 'resource'],
  })
  metrics.onCollect(() => {
    current.set(inFlight.takePeak('readOnly'), 'readOnly')
    current.set(inFlight.takePeak('mutating'), 'mutating')
    for (const { info, cache } of registry.resources()) {
      const name = info.group === '' ? info.resource : `${info.resource}.${info.group}`
      stored.set(cache.size, name)
      resources.set(cache.size, info.group, info.resource)
      watchers.set(cache.watcherCount, info.group, info.resource)
    }
  })
}
