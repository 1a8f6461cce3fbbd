import type { QueueMetrics, WorkQueue } from '@coxswain/workqueue'
import type { MetricsRegistry } from './registry.ts'

export type ReconcileResultLabel = 'success' | 'error' | 'requeue_after'

/** The metrics of one controller, with controller-runtime's names. */
export interface ControllerMetrics {
  readonly queue: QueueMetrics
  /** Starts reporting the gauges of work in progress. Returns the function that stops it. */
  observe(queue: WorkQueue<string>): () => void
  workers(count: number): void
  started(): void
  /** Seconds. */
  finished(result: ReconcileResultLabel, duration: number): void
  terminal(): void
  panicked(): void
  timedOut(): void
  hotLoop(): void
}

const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]
const queueBuckets = Array.from({ length: 12 }, (_, power) => 10 ** (power - 8))

/** The most distinct priorities; others are counted as one, so that computed priorities cannot flood a server. */
const maxPriorities = 25

export function createControllerMetrics(registry: MetricsRegistry, controller: string): ControllerMetrics {
  const runtime = (name: string, help: string) => ({
    name: `controller_runtime_${name}`,
    help,
    labels: ['controller'],
  })
  const total = registry.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Total number of reconciliations per controller',
    labels: ['controller', 'result'],
  })
  const errors = registry.counter(
    runtime('reconcile_errors_total', 'Total number of reconciliation errors per controller'),
  )
  const terminal = registry.counter(
    runtime(
      'terminal_reconcile_errors_total',
      'Total number of terminal reconciliation errors per controller',
    ),
  )
  const panics = registry.counter(
    runtime('reconcile_panics_total', 'Total number of reconciliation panics per controller'),
  )
  const timeouts = registry.counter(
    runtime('reconcile_timeouts_total', 'Total number of reconciliation timeouts per controller'),
  )
  const time = registry.histogram({
    ...runtime('reconcile_time_seconds', 'Length of time per reconciliation per controller'),
    buckets: reconcileBuckets,
  })
  const workers = registry.gauge(
    runtime('max_concurrent_reconciles', 'Maximum number of concurrent reconciles per controller'),
  )
  const active = registry.gauge(runtime('active_workers', 'Number of currently used workers per controller'))
  const hotLoops = registry.counter({
    name: 'coxswain_hot_loops_total',
    help: 'Number of detected hot loops: an object that is reconciled over and over',
    labels: ['controller'],
  })
  for (const counter of [errors, terminal, panics, timeouts, hotLoops]) counter.add(0, controller)
  for (const result of ['success', 'error', 'requeue', 'requeue_after']) total.add(0, controller, result)
  return {
    ...createQueueMetrics(registry, controller),
    workers: count => workers.set(count, controller),
    started: () => active.add(1, controller),
    finished: (result, duration) => {
      active.add(-1, controller)
      total.add(1, controller, result)
      if (result === 'error') errors.add(1, controller)
      time.observe(duration, controller)
    },
    terminal: () => terminal.add(1, controller),
    panicked: () => panics.add(1, controller),
    timedOut: () => timeouts.add(1, controller),
    hotLoop: () => hotLoops.add(1, controller),
  }
}

function createQueueMetrics(
  registry: MetricsRegistry,
  controller: string,
): Pick<ControllerMetrics, 'queue' | 'observe'> {
  const labels = ['name', 'controller']
  const queue = (name: string, help: string) => ({ name: `workqueue_${name}`, help, labels })
  const depth = registry.gauge({
    name: 'workqueue_depth',
    help: 'Current depth of workqueue by workqueue and priority',
    labels: [...labels, 'priority'],
  })
  const adds = registry.counter(queue('adds_total', 'Total number of adds handled by workqueue'))
  const waited = registry.histogram({
    ...queue(
      'queue_duration_seconds',
      'How long in seconds an item stays in workqueue before being requested',
    ),
    buckets: queueBuckets,
  })
  const worked = registry.histogram({
    ...queue('work_duration_seconds', 'How long in seconds processing an item from workqueue takes.'),
    buckets: queueBuckets,
  })
  const unfinished = registry.gauge(
    queue(
      'unfinished_work_seconds',
      'How many seconds of work is in progress and has not been observed by work_duration',
    ),
  )
  const longest = registry.gauge(
    queue(
      'longest_running_processor_seconds',
      'How many seconds has the longest running processor been running',
    ),
  )
  const retries = registry.counter(queue('retries_total', 'Total number of retries handled by workqueue'))
  const priorities = new Set<number>()
  const priorityLabel = (priority: number): string => {
    if (priorities.size < maxPriorities) priorities.add(priority)
    return priorities.has(priority) ? String(priority) : 'other'
  }
  return {
    queue: {
      added: () => adds.add(1, controller, controller),
      depthChanged: (priority, change) => depth.add(change, controller, controller, priorityLabel(priority)),
      started: seconds => waited.observe(seconds, controller, controller),
      finished: seconds => worked.observe(seconds, controller, controller),
      retried: () => retries.add(1, controller, controller),
    },
    observe: observed =>
      registry.onCollect(() => {
        unfinished.set(observed.unfinishedWork(), controller, controller)
        longest.set(observed.longestWork(), controller, controller)
      }),
  }
}
