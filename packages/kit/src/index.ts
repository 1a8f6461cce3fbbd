/**
 * Everything that is injected: time, randomness, logs, and the order in which things happen.
 *
 *   createRealEnv()          the machine's clock, randomness and direct hand-offs
 *   new VirtualWorld()       the same interfaces, driven by a seed
 *
 * And the few containers, errors and bytes helpers that every package needs. A closed list: look here before writing one elsewhere.
 * @module
 */
export { aborted, createAbortError, isAbort, untilAborted } from './abort.ts'
export { type Backoff, type BackoffOptions, createBackoff } from './backoff.ts'
export { BoundedMap } from './bounded-map.ts'
export {
  concatBytes,
  decodeBase64,
  decodeBase64Text,
  decodeBase64Url,
  decodePaddedBase64,
  decodeText,
  encodeBase64,
  encodeBase64Text,
  encodeBase64Url,
  encodeHex,
  encodeText,
} from './bytes.ts'
export { type Clock, createRealClock, type SleepOptions, type Timer } from './clock.ts'
export { createRealEnv, type Env } from './env.ts'
export { brandErrors, CodedError, type IsError } from './errors.ts'
export { maxOf, minOf } from './extremes.ts'
export {
  createLogger,
  isReported,
  type LogFields,
  type Logger,
  type LogLevel,
  type LogRecord,
  LogThreshold,
  logLevels,
  markReported,
  silentLogger,
} from './logger.ts'
export { AsyncQueue } from './queue.ts'
export { createRealRandom, createSeededRandom, type Random } from './random.ts'
export { directScheduler, type Lane, type Scheduler } from './scheduler.ts'
export { Sha256, sha256 } from './sha256.ts'
export { TaskGroup } from './task-group.ts'
export type { Span, SpanAttributes, SpanOptions, TraceContext, Tracer } from './tracer.ts'
export { type StepRecord, VirtualWorld, type VirtualWorldOptions } from './virtual-world.ts'
