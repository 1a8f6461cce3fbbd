import { isChangeOf, type SchedulerPlugin } from '../plugin.ts'

/** Pods with scheduling gates are not queued until the last one is removed. */
export const schedulingGates: SchedulerPlugin = {
  name: 'SchedulingGates',
  preEnqueue: ({ spec }) => {
    const gates = spec.schedulingGates ?? []
    if (gates.length === 0) return undefined
    const names = gates.map(({ name }) => name).join(' ')
    return {
      code: 'UnschedulableAndUnresolvable',
      reasons: [`waiting for scheduling gates: [${names}]`],
    }
  },
  wakesOn: (event, pod) => isChangeOf(event, pod, 'gates'),
}
