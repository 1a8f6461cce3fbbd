/**
 * Work queues: items to process, each at most once at a time.
 *
 *   add / addRateLimited -> waiting -> ready -> get -> done
 *
 * @module
 */
export type { QueueMetrics } from './metrics.ts'
export {
  type BucketOptions,
  createBucketLimiter,
  createExponentialLimiter,
  createFastSlowLimiter,
  createMaxOfLimiter,
  type ExponentialOptions,
  type FastSlowOptions,
  type RateLimiter,
} from './rate-limiter.ts'
export { type AddOptions, WorkQueue, type WorkQueueOptions } from './work-queue.ts'
