import type { Env } from '@coxswain/kit'
import type { Store } from '@coxswain/storage'
import type { Turns } from '../cache/slices.ts'
import type { WatchCache } from '../cache/watch-cache.ts'

/** What reads need of the server. */
export interface ReadPorts {
  readonly env: Env
  /** For lists at an exact revision. */
  readonly store: Store
  readonly cache: WatchCache
  /** For long-running work: yields to other requests. */
  readonly turns: Turns
}
