import type { Env } from '@coxswain/kit'
import type { StorePorts } from '../write/ports.ts'

/** What work after the start needs of the server: it writes to the store beneath the pipeline. */
export interface StartPorts extends StorePorts {
  readonly env: Env
}
