import { type Clock, createRealClock } from './clock.ts'
import { type Logger, silentLogger } from './logger.ts'
import { createRealRandom, type Random } from './random.ts'
import { directScheduler, type Scheduler } from './scheduler.ts'
import type { Tracer } from './tracer.ts'

/** What a part of the system may use of its environment besides network (`wire`) and disk (`storage`). */
export interface Env {
  readonly clock: Clock
  readonly random: Random
  readonly scheduler: Scheduler
  readonly log: Logger
  /** @default no traces */
  readonly tracer?: Tracer
}

/** An `Env` with the real clock, randomness and scheduler; it logs nothing unless it is given a logger. */
export function createRealEnv(log: Logger = silentLogger): Env {
  return { clock: createRealClock(), random: createRealRandom(), scheduler: directScheduler, log }
}
