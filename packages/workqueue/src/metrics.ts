/** Told what happens in a queue. Times are in seconds. No method may throw. */
export interface QueueMetrics {
  /** An item became wanted that was not. */
  added(priority: number): void
  /** The number of ready items of one priority changed by `change`. */
  depthChanged(priority: number, change: number): void
  /** A worker got an item that had been ready for this long. */
  started(waited: number): void
  /** A worker is done with an item after this long. */
  finished(worked: number): void
  /** An item was added again through the rate limiter. */
  retried(): void
}

export const noMetrics: QueueMetrics = {
  added() {},
  depthChanged() {},
  started() {},
  finished() {},
  retried() {},
}
