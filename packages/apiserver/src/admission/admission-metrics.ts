import type { Clock } from '@coxswain/kit'
import type { BoundHistogram, Histogram, MetricsRegistry } from '@coxswain/kit/metrics'
import type { Admission, AdmissionPlugin } from './admission.ts'
import type { Attributes } from './attributes.ts'

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

/** Wraps each plug-in so that its latency is recorded under its name. */
export function measurePlugins(
  plugins: readonly AdmissionPlugin[],
  metrics: MetricsRegistry,
  clock: Clock,
): readonly AdmissionPlugin[] {
  const durations = metrics.histogram({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).',
    labels: ['name', 'operation', 'rejected', 'type'],
    buckets,
  })
  const measure = createMeasure(durations, clock)
  return plugins.map(plugin => {
    const { name, mutate, validate } = plugin
    return {
      ...plugin,
      ...(mutate && {
        mutate: measure(mutate.bind(plugin), [name], 'admit'),
      }),
      ...(validate && {
        validate: measure(validate.bind(plugin), [name], 'validate'),
      }),
    } satisfies AdmissionPlugin
  })
}

/** Wraps the whole chain so that its latency is recorded per admission step. */
export function measureSteps(admission: Admission, metrics: MetricsRegistry, clock: Clock): Admission {
  const durations = metrics.histogram({
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate or admit).',
    labels: ['operation', 'rejected', 'type'],
    buckets,
  })
  const measure = createMeasure(durations, clock)
  const mutate = measure<[]>(attributes => admission.mutate(attributes), [], 'admit')
  const validate = measure<[]>(attributes => admission.validate(attributes), [], 'validate')
  return {
    server: admission.server,
    mutate: async attributes => await mutate(attributes),
    validate: async attributes => await validate(attributes),
  }
}

type Work<Rest extends unknown[]> = (attributes: Attributes, ...rest: Rest) => Promise<void> | void

/** Every write passes a few dozen of these, so their histograms are looked up once per operation. */
function createMeasure(durations: Histogram, clock: Clock) {
  return <Rest extends unknown[]>(work: Work<Rest>, labels: readonly string[], type: string): Work<Rest> => {
    const allowed = new Map<string, BoundHistogram>()
    const note = (operation: string, started: number) => {
      let histogram = allowed.get(operation)
      if (!histogram) {
        histogram = durations.with(...labels, operation, 'false', type)
        allowed.set(operation, histogram)
      }
      histogram.observe((clock.monotonic() - started) / 1_000)
    }
    const recordRejection = (operation: string, started: number) =>
      durations.observe((clock.monotonic() - started) / 1_000, ...labels, operation, 'true', type)
    return (attributes, ...rest) => {
      const { operation } = attributes
      const started = clock.monotonic()
      let pending: Promise<void> | void
      try {
        pending = work(attributes, ...rest)
      } catch (error) {
        recordRejection(operation, started)
        throw error
      }
      if (!pending) {
        note(operation, started)
        return
      }
      return pending.then(
        () => note(operation, started),
        (error: unknown) => {
          recordRejection(operation, started)
          throw error
        },
      )
    }
  }
}
