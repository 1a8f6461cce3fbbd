import type { SchedulerPlugin } from '../plugin.ts'

/** The more important pod first, of equals the one that has waited longer. */
export const prioritySort: SchedulerPlugin = {
  name: 'PrioritySort',
  before: (a, b) => (a.pod.priority === b.pod.priority ? a.since < b.since : a.pod.priority > b.pod.priority),
}
