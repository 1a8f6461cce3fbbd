import { HostPorts, hostPortsOf } from '../host-ports.ts'
import { leaverOf, nodesOf, type SchedulerPlugin, skip, unschedulable } from '../plugin.ts'

/** Ports of the node itself are given out once. */
export const nodePorts: SchedulerPlugin = {
  name: 'NodePorts',
  preFilter: ({ pod }) => (hostPortsOf(pod.pod).length === 0 ? skip : undefined),
  filter: ({ pod }, { ports }) =>
    hostPortsOf(pod.pod).some(port => ports.conflictsWith(port))
      ? unschedulable("node(s) didn't have free ports for the requested pod ports")
      : undefined,
  wakesOn: (event, pod) => {
    const leaver = leaverOf(event)
    if (!leaver) return nodesOf(event, 'taints') !== undefined
    const freed = new HostPorts()
    freed.count(leaver, 1)
    return hostPortsOf(pod).some(port => freed.conflictsWith(port))
  },
}
