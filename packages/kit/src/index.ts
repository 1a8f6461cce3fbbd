/**
 * Everything that is injected: time, randomness, logs, and the order in which things happen.
 *
 *   createRealEnv()          the machine's clock, randomness and direct hand-offs
 *   new VirtualWorld()       the same interfaces, driven by a seed
 *
 * A closed list: what is not about time, chance, order or stopping does not belong here.
 * @module
 */
export { aborted, createAbortError, isAbort, untilAborted } from './abort.ts'
export { type Backoff, type BackoffOptions, createBackoff } from './backoff.ts'
export { type Clock, createRealClock, type SleepOptions, type Timer } from './clock.ts'
export { createRealEnv, type Env } from './env.ts'
export { maxOf, minOf } from './extremes.ts'
export {
  createLogger,
  type LogFields,
  type Logger,
  type LogLevel,
  type LogRecord,
  silentLogger,
} from './logger.ts'
export { AsyncQueue } from './queue.ts'
export { createRealRandom, createSeededRandom, type Random } from './random.ts'
export { directScheduler, type Lane, type Scheduler } from './scheduler.ts'
export { TaskGroup } from './task-group.ts'
export { type StepRecord, VirtualWorld, type VirtualWorldOptions } from './virtual-world.ts'
