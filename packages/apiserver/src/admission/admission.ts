import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Attributes } from './attributes.ts'
import { keepManagedFields } from './managed-fields.ts'
import type { AdmissionPorts } from './ports.ts'
import { Reinvocation } from './reinvocation.ts'

/** An admission plug-in. It rejects a request by throwing a StatusError. */
export interface AdmissionPlugin {
  /** The name in `--enable-admission-plugins`. */
  readonly name: string
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

/** The admission chain: mutating plug-ins first, validating ones afterwards. */
export interface Admission {
  /** What plug-ins may use of the server. */
  readonly server: AdmissionPorts
  mutate(attributes: Attributes): Promise<void>
  validate(attributes: Attributes): Promise<void>
}

/** Runs the plug-ins one after the other, in the given order. */
export function createAdmission(plugins: readonly AdmissionPlugin[], server: AdmissionPorts): Admission {
  const mutating = plugins.filter(plugin => plugin.mutate)
  const validating = plugins.filter(plugin => plugin.validate)

  async function mutateOnce(attributes: Attributes, reinvocation: Reinvocation): Promise<void> {
    for (const plugin of mutating) {
      const pending = plugin.mutate?.(attributes, reinvocation)
      if (pending) await pending
    }
  }

  return {
    server,
    async mutate(attributes) {
      const reinvocation = new Reinvocation()
      const managedFields = (attributes.object?.metadata as JsonObject | undefined)?.managedFields
      await mutateOnce(attributes, reinvocation)
      if (!reinvocation.isWanted) return
      reinvocation.begin()
      await mutateOnce(attributes, reinvocation)
      keepManagedFields(attributes, managedFields)
    },
    async validate(attributes) {
      for (const plugin of validating) {
        const pending = plugin.validate?.(attributes)
        if (pending) await pending
      }
    },
  }
}
