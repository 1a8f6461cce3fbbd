import type { Counter, MetricsRegistry } from '@coxswain/kit/metrics'
import type { FlowControl } from './flow-control.ts'

/** Upstream's metric names; updated when they are read. */
export function registerFlowMetrics(metrics: MetricsRegistry, flow: FlowControl): void {
  const gauge = (name: string, help: string) =>
    metrics.gauge({ name: `apiserver_flowcontrol_${name}`, help, labels: ['priority_level'] })
  const nominal = gauge(
    'nominal_limit_seats',
    'Nominal number of execution seats configured for each priority level',
  )
  const limit = gauge(
    'current_limit_seats',
    'current derived number of execution seats available to each priority level',
  )
  const executing = gauge(
    'current_executing_seats',
    'Concurrency (number of seats) occupied by the currently executing requests',
  )
  const waiting = gauge('current_inqueue_requests', 'Number of requests currently pending in queues')
  const dispatched = metrics.counter({
    name: 'apiserver_flowcontrol_dispatched_requests_total',
    help: 'Number of requests executed',
    labels: ['priority_level', 'flow_schema'],
  })
  const rejected = metrics.counter({
    name: 'apiserver_flowcontrol_rejected_requests_total',
    help: 'Number of requests rejected',
    labels: ['priority_level', 'flow_schema', 'reason'],
  })
  /** The values exported so far, so that requests need not be counted twice. */
  const exported = new Map<string, number>()
  const raise = (counter: Counter, count: number, ...labels: string[]) => {
    const key = labels.join(' ')
    counter.add(count - (exported.get(key) ?? 0), ...labels)
    exported.set(key, count)
  }
  metrics.onCollect(() => {
    for (const { config, nominal: own, queues } of flow.levels().values()) {
      nominal.set(own, config.name)
      limit.set(config.exempt ? own : queues.limit, config.name)
      executing.set(queues.executing, config.name)
      waiting.set(queues.waiting, config.name)
    }
    for (const counts of flow.counts.values()) {
      const { level, schema } = counts
      raise(dispatched, counts.dispatched, level, schema)
      for (const [reason, count] of counts.rejected) raise(rejected, count, level, schema, reason)
    }
  })
}
