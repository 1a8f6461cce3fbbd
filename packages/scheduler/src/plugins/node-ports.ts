import { HostPorts, hostPortsOf } from '../host-ports.ts'
import { nodesOf, removedPodOf, type SchedulerPlugin, skip, unschedulable } from '../plugin.ts'

/** Host ports are allocated once per node. */
export const nodePorts: SchedulerPlugin = {
  name: 'NodePorts',
  preFilter: ({ pod }) => (hostPortsOf(pod.pod).length === 0 ? skip : undefined),
  filter: ({ pod }, { ports }) =>
    hostPortsOf(pod.pod).some(port => ports.conflictsWith(port))
      ? unschedulable("node(s) didn't have free ports for the requested pod ports")
      : undefined,
  wakesOn: (event, pod) => {
    const removedPod = removedPodOf(event)
    if (!removedPod) return nodesOf(event, 'taints') !== undefined
    const freed = new HostPorts()
    freed.count(removedPod, 1)
    return hostPortsOf(pod).some(port => freed.conflictsWith(port))
  },
}
