import type { BoundHistogram, Histogram, MetricsRegistry } from '@coxswain/kit/metrics'

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

/** Upstream's name for mutating and validating admission. */
export type AdmissionType = 'admit' | 'validate'

/** The latency histograms of admission. */
export interface AdmissionMetrics {
  readonly ofPlugin: (name: string, type: AdmissionType) => AdmissionLatency
  /** Of all plug-ins together. */
  readonly ofStep: (type: AdmissionType) => AdmissionLatency
}

/** Registers the metrics of admission, under upstream's names. */
export function createAdmissionMetrics(metrics: MetricsRegistry): AdmissionMetrics {
  const plugins = metrics.histogram({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).',
    labels: ['name', 'operation', 'rejected', 'type'],
    buckets,
  })
  const steps = metrics.histogram({
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate or admit).',
    labels: ['operation', 'rejected', 'type'],
    buckets,
  })
  return {
    ofPlugin: (name, type) => new AdmissionLatency(plugins, [name], type),
    ofStep: type => new AdmissionLatency(steps, [], type),
  }
}

/** Every write passes a few dozen of these, so their histograms are looked up once per operation. */
export class AdmissionLatency {
  readonly #durations: Histogram
  readonly #labels: readonly string[]
  readonly #type: AdmissionType
  readonly #allowed = new Map<string, BoundHistogram>()

  constructor(durations: Histogram, labels: readonly string[], type: AdmissionType) {
    this.#durations = durations
    this.#labels = labels
    this.#type = type
  }

  recordAllowed(operation: string, milliseconds: number): void {
    let histogram = this.#allowed.get(operation)
    if (!histogram) {
      histogram = this.#durations.with(...this.#labels, operation, 'false', this.#type)
      this.#allowed.set(operation, histogram)
    }
    histogram.observe(milliseconds / 1_000)
  }

  recordRejected(operation: string, milliseconds: number): void {
    this.#durations.observe(milliseconds / 1_000, ...this.#labels, operation, 'true', this.#type)
  }
}
