import type { Clock } from '@coxswain/kit'
import type { Histogram, MetricsRegistry } from '@coxswain/kit/metrics'
import type { Admission, AdmissionPlugin, Attributes } from '../admission/admission.ts'

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

/** The plug-ins, each measured under its name. */
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
        mutate: (attributes, reinvocation) =>
          measure(() => mutate.call(plugin, attributes, reinvocation), [name, attributes.operation], 'admit'),
      }),
      ...(validate && {
        validate: attributes =>
          measure(() => validate.call(plugin, attributes), [name, attributes.operation], 'validate'),
      }),
    } satisfies AdmissionPlugin
  })
}

/** All plug-ins together, measured by step. */
export function measureSteps(admission: Admission, metrics: MetricsRegistry, clock: Clock): Admission {
  const durations = metrics.histogram({
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate or admit).',
    labels: ['operation', 'rejected', 'type'],
    buckets,
  })
  const measure = createMeasure(durations, clock)
  const step =
    (run: (attributes: Attributes) => Promise<void>, type: string) => async (attributes: Attributes) =>
      await measure(() => run(attributes), [attributes.operation], type)
  return {
    mutate: step(attributes => admission.mutate(attributes), 'admit'),
    validate: step(attributes => admission.validate(attributes), 'validate'),
  }
}

type Work = () => Promise<void> | void

function createMeasure(durations: Histogram, clock: Clock) {
  return (work: Work, labels: readonly string[], type: string): Promise<void> | void => {
    const started = clock.monotonic()
    const note = (rejected: boolean) =>
      durations.observe((clock.monotonic() - started) / 1_000, ...labels, String(rejected), type)
    let pending: Promise<void> | void
    try {
      pending = work()
    } catch (error) {
      note(true)
      throw error
    }
    if (!pending) {
      note(false)
      return
    }
    return pending.then(
      () => note(false),
      (error: unknown) => {
        note(true)
        throw error
      },
    )
  }
}
