import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Clock } from '@coxswain/kit'
import type { MetricsRegistry } from '@coxswain/kit/metrics'
import { type AdmissionLatency, createAdmissionMetrics } from './admission-metrics.ts'
import type { Attributes } from './attributes.ts'
import { keepManagedFields } from './managed-fields.ts'
import type { AdmissionPorts } from './ports.ts'
import { Reinvocation } from './reinvocation.ts'

/** An admission plug-in. It rejects a request by throwing a StatusError. */
export interface AdmissionPlugin {
  /** The name in `--enable-admission-plugins`. */
  readonly name: string
  /** The resource that it is about, with its group: the plug-in is left out where that is not served. @default any */
  readonly needs?: string
  /** Called a second time when a webhook or policy has changed the object; see `reinvocation`. */
  readonly mutate?: (attributes: Attributes, reinvocation: Reinvocation) => Promise<void> | void
  readonly validate?: (attributes: Attributes) => Promise<void> | void
  /** For a plug-in with per-server state: creates the instance for one server. Called once. */
  readonly forServer?: (server: AdmissionPorts) => Pick<AdmissionPlugin, 'mutate' | 'validate'>
}

/** The plug-ins of one server. */
export function openPlugins(
  plugins: readonly AdmissionPlugin[],
  server: AdmissionPorts,
): readonly AdmissionPlugin[] {
  return plugins.map(({ forServer, ...plugin }) => ({ ...plugin, ...forServer?.(server) }))
}

/** Whether the request writes Pods themselves (not a subresource) with one of these operations. */
export function isPodWrite(attributes: Attributes, ...operations: Attributes['operation'][]): boolean {
  const { info } = attributes.resource
  return (
    info.group === '' &&
    info.resource === 'pods' &&
    attributes.subresource === '' &&
    operations.includes(attributes.operation)
  )
}

/** The admission chain: mutating plug-ins first, validating ones afterwards. Returns a promise only when a plug-in has to wait. */
export interface Admission {
  /** What plug-ins may use of the server. */
  readonly server: AdmissionPorts
  mutate(attributes: Attributes): Promise<void> | void
  validate(attributes: Attributes): Promise<void> | void
}

/** Runs the plug-ins one after the other, in the given order, and records their latencies. */
export function createAdmission(
  plugins: readonly AdmissionPlugin[],
  server: AdmissionPorts,
  metrics: MetricsRegistry,
): Admission {
  const { clock } = server.env
  const { ofPlugin, ofStep } = createAdmissionMetrics(metrics)
  const mutating = plugins.flatMap(plugin => {
    const { name, mutate } = plugin
    return mutate ? new Measured(mutate.bind(plugin), ofPlugin(name, 'admit'), clock) : []
  })
  const validating = plugins.flatMap(plugin => {
    const { name, validate } = plugin
    return validate ? new Measured(validate.bind(plugin), ofPlugin(name, 'validate'), clock) : []
  })

  /** Mutates again when a plug-in asks for it. There is no third time. */
  function mutateAgain(
    attributes: Attributes,
    reinvocation: Reinvocation,
    managedFields: unknown,
  ): Promise<void> | void {
    if (!reinvocation.isWanted) return
    reinvocation.begin()
    const keep = () => keepManagedFields(attributes, managedFields)
    const pending = runAll(mutating, attributes, reinvocation)
    return pending ? pending.then(keep) : keep()
  }

  const mutate: Call = (attributes, reinvocation) => {
    const managedFields = (attributes.object?.metadata as JsonObject | undefined)?.managedFields
    const pending = runAll(mutating, attributes, reinvocation)
    return pending
      ? pending.then(() => mutateAgain(attributes, reinvocation, managedFields))
      : mutateAgain(attributes, reinvocation, managedFields)
  }
  const validate: Call = (attributes, reinvocation) => runAll(validating, attributes, reinvocation)
  const mutatingStep = new Measured(mutate, ofStep('admit'), clock)
  const validatingStep = new Measured(validate, ofStep('validate'), clock)
  return {
    server,
    mutate: attributes => mutatingStep.run(attributes, new Reinvocation()),
    validate: attributes => validatingStep.run(attributes, neverReinvoked),
  }
}

/** Validating plug-ins are called once, and know nothing of reinvocation. */
const neverReinvoked = new Reinvocation()

type Call = (attributes: Attributes, reinvocation: Reinvocation) => Promise<void> | void

/** A plug-in, or all of them, with a record of how long each call takes. */
class Measured {
  readonly #call: Call
  readonly #latency: AdmissionLatency
  readonly #clock: Clock

  constructor(call: Call, latency: AdmissionLatency, clock: Clock) {
    this.#call = call
    this.#latency = latency
    this.#clock = clock
  }

  run(attributes: Attributes, reinvocation: Reinvocation): Promise<void> | void {
    const started = this.#clock.monotonic()
    let pending: Promise<void> | void
    try {
      const call = this.#call
      pending = call(attributes, reinvocation)
    } catch (error) {
      this.#latency.recordRejected(attributes.operation, this.#clock.monotonic() - started)
      throw error
    }
    if (pending) return this.#finish(pending, attributes, started)
    this.#latency.recordAllowed(attributes.operation, this.#clock.monotonic() - started)
  }

  async #finish(pending: Promise<void>, { operation }: Attributes, started: number): Promise<void> {
    try {
      await pending
    } catch (error) {
      this.#latency.recordRejected(operation, this.#clock.monotonic() - started)
      throw error
    }
    this.#latency.recordAllowed(operation, this.#clock.monotonic() - started)
  }
}

/** Runs plug-ins in order; returns a promise once one has to wait. */
function runAll(
  plugins: readonly Measured[],
  attributes: Attributes,
  reinvocation: Reinvocation,
): Promise<void> | void {
  for (let i = 0; i < plugins.length; i++) {
    const pending = plugins[i]!.run(attributes, reinvocation)
    if (pending) return pending.then(() => runAll(plugins.slice(i + 1), attributes, reinvocation))
  }
}
