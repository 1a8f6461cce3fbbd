import { maxOf } from '@coxswain/kit'
import type { FlowControl } from './flow-control.ts'

const pages = '/debug/api_priority_and_fairness/'

type Row = readonly (string | number)[]

/** The text of one of upstream's debug pages; undefined for other paths. */
export function findDebugPage(flow: FlowControl, path: string): string | undefined {
  if (!path.startsWith(pages)) return undefined
  switch (path.slice(pages.length)) {
    case 'dump_priority_levels':
      return table(
        [
          'PriorityLevelName',
          'ActiveQueues',
          'IsIdle',
          'IsQuiescing',
          'WaitingRequests',
          'ExecutingRequests',
          'DispatchedRequests',
          'RejectedRequests',
          'TimedoutRequests',
          'CancelledRequests',
        ],
        [...flow.levels().values()].map(({ config, queues }) => [
          config.name,
          queues.queues.filter(({ waiting }) => waiting > 0).length,
          String(queues.executing === 0 && queues.waiting === 0),
          'false',
          queues.waiting,
          queues.executing,
          ...totals(flow, config.name),
        ]),
      )
    case 'dump_queues':
      return table(
        ['PriorityLevelName', 'Index', 'PendingRequests', 'ExecutingRequests', 'SeatsInUse', 'NextDispatchR'],
        [...flow.levels().values()].flatMap(({ config, queues }) =>
          queues.queues.map(
            ({ index, waiting, executing, start }): Row => [
              config.name,
              index,
              waiting,
              executing,
              executing,
              `${start.toFixed(8)}ss`,
            ],
          ),
        ),
      )
    case 'dump_requests':
      return table(
        [
          'PriorityLevelName',
          'FlowSchemaName',
          'QueueIndex',
          'RequestIndexInQueue',
          'FlowDistingsher',
          'ArriveTime',
        ],
        [...flow.levels().values()].flatMap(({ config, queues }) =>
          [...queues.requests()].map(({ queue, flow: name, since }, index): Row => {
            const [schema = '', distinguisher = ''] = name.split(' ', 2)
            return [config.name, schema, queue, index, distinguisher, new Date(since).toISOString()]
          }),
        ),
      )
    default:
      return undefined
  }
}

function totals(flow: FlowControl, level: string): number[] {
  let dispatched = 0
  const rejected = { refused: 0, late: 0, gone: 0 }
  for (const counts of flow.counts.values()) {
    if (counts.level !== level) continue
    dispatched += counts.dispatched
    for (const [reason, count] of counts.rejected) {
      if (reason === 'time-out') rejected.late += count
      else if (reason === 'cancelled') rejected.gone += count
      else rejected.refused += count
    }
  }
  return [dispatched, rejected.refused, rejected.late, rejected.gone]
}

/** Comma-separated, padded for people to read. */
function table(head: readonly string[], rows: readonly Row[]): string {
  const cells = [head, ...rows].map(row => row.map(cell => `${cell},`))
  const widths = head.map((_, column) => maxOf(cells.map(row => row[column]?.length ?? 0)))
  return cells
    .map(
      row =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]! + 1))
          .join('')
          .trimEnd()}\n`,
    )
    .join('')
}
