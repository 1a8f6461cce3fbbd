import type { Env } from '@coxswain/kit'
import type { StorePorts } from '../write/ports.ts'

/** What post-start hooks need of the server: they write to the store without the write pipeline. */
export interface StartPorts extends StorePorts {
  readonly env: Env
}
