import type { Registry } from '../registry/registry.ts'
import type { FieldManagers } from '../write/managed-fields.ts'
import type { StartPorts } from './ports.ts'

/** What control loops that write the status of built-in objects need of the server. */
export interface StatusPorts extends StartPorts {
  readonly registry: Registry
  readonly fieldManagers: FieldManagers
}
