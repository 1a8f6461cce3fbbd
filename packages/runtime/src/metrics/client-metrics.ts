import type { CallRecord } from '@coxswain/client'
import type { MetricsRegistry } from './registry.ts'

const durationBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]

/** Counts a client's calls under client-go's names. For the client's `onCall`. */
export function createClientMetrics(registry: MetricsRegistry): (record: CallRecord) => void {
  const requests = registry.counter({
    name: 'rest_client_requests_total',
    help: 'Number of HTTP requests, partitioned by status code and method.',
    labels: ['code', 'method'],
  })
  const durations = registry.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Request latency in seconds. Broken down by verb.',
    labels: ['verb'],
    buckets: durationBuckets,
  })
  const retries = registry.counter({
    name: 'rest_client_request_retries_total',
    help: 'Number of request retries, partitioned by status code and verb.',
    labels: ['code', 'verb'],
  })
  return ({ method, status, duration, retries: count }) => {
    const code = status === undefined ? '<error>' : String(status)
    requests.add(1, code, method)
    durations.observe(duration / 1000, method)
    if (count > 0) retries.add(count, code, method)
  }
}
