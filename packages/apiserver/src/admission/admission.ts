import type { JsonObject } from '../json.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { ServerState, UserInfo } from '../request/context.ts'

/** What is about to be written. */
export interface Attributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly resource: ServedResource
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** Undefined for deletes. Mutating plug-ins may change it. */
  readonly object: JsonObject | undefined
  /** Undefined for creates. */
  readonly oldObject: JsonObject | undefined
  readonly dryRun: boolean
  readonly user: UserInfo
  readonly state: ServerState
  /** Sends a text in a `Warning` header, whatever becomes of the request. */
  readonly warn?: (text: string) => void
}

/** A gate before the store. Refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  /** As in `--enable-admission-plugins`. */
  readonly name: string
  readonly mutate?: (attributes: Attributes) => Promise<void> | void
  readonly validate?: (attributes: Attributes) => Promise<void> | void
}

/** Whether pods themselves are about to be written, by one of these operations. */
export function isPodWrite(attributes: Attributes, ...operations: Attributes['operation'][]): boolean {
  const { info } = attributes.resource
  return (
    info.group === '' &&
    info.resource === 'pods' &&
    attributes.subresource === '' &&
    operations.includes(attributes.operation)
  )
}

export interface Admission {
  mutate(attributes: Attributes): Promise<void>
  validate(attributes: Attributes): Promise<void>
}

/** Runs the plug-ins one after the other, in the order given. */
export function createAdmission(plugins: readonly AdmissionPlugin[]): Admission {
  return {
    async mutate(attributes) {
      for (const plugin of plugins) await plugin.mutate?.(attributes)
    },
    async validate(attributes) {
      for (const plugin of plugins) await plugin.validate?.(attributes)
    },
  }
}
