import type { SchedulerPlugin } from '../plugin.ts'

/** Higher priority first, then longer waiting time. */
export const prioritySort: SchedulerPlugin = {
  name: 'PrioritySort',
  before: (a, b) => (a.pod.priority === b.pod.priority ? a.since < b.since : a.pod.priority > b.pod.priority),
}
