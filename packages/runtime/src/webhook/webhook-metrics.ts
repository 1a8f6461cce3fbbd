import type { MetricsRegistry } from '../metrics/registry.ts'

/** 10 ns to 1000 s. */
const latencyBuckets = Array.from({ length: 12 }, (_, exponent) => Number(`1e${exponent - 8}`))

export interface WebhookMetrics {
  /** Counts a request; call the returned function with the status of its answer. */
  started(path: string): (code: number, seconds: number) => void
  panicked(): void
  conversionPanicked(): void
}

/** Counts reviews under controller-runtime's names. */
export function createWebhookMetrics(registry: MetricsRegistry, paths: readonly string[]): WebhookMetrics {
  const latency = registry.histogram({
    name: 'controller_runtime_webhook_latency_seconds',
    help: 'Histogram of the latency of processing admission requests',
    labels: ['webhook'],
    buckets: latencyBuckets,
  })
  const requests = registry.counter({
    name: 'controller_runtime_webhook_requests_total',
    help: 'Total number of admission requests by HTTP status code.',
    labels: ['webhook', 'code'],
  })
  const inFlight = registry.gauge({
    name: 'controller_runtime_webhook_requests_in_flight',
    help: 'Current number of admission requests being served.',
    labels: ['webhook'],
  })
  const panics = registry.counter({
    name: 'controller_runtime_webhook_panics_total',
    help: 'Total number of webhook panics',
  })
  const conversionPanics = registry.counter({
    name: 'controller_runtime_conversion_webhook_panics_total',
    help: 'Total number of conversion webhook panics',
  })
  for (const path of paths) {
    for (const code of ['200', '500']) requests.add(0, path, code)
    inFlight.set(0, path)
  }
  return {
    started: path => {
      inFlight.add(1, path)
      return (code, seconds) => {
        inFlight.add(-1, path)
        requests.add(1, path, String(code))
        latency.observe(seconds, path)
      }
    },
    panicked: () => panics.add(1),
    conversionPanicked: () => conversionPanics.add(1),
  }
}
