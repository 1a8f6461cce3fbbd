/** Receives the events of a queue. Times are in seconds. Methods must not throw. */
export interface QueueMetrics {
  /** An item was added that was not queued yet. */
  added(priority: number): void
  /** The number of ready items of one priority changed by `change`. */
  depthChanged(priority: number, change: number): void
  /** A worker got an item that had been ready for this long. */
  started(waited: number): void
  /** A worker finished an item after this long. */
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
