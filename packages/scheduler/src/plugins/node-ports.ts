import { hostPortsOf } from '../host-ports.ts'
import { isRoomMade, type SchedulerPlugin, skip, unschedulable } from '../plugin.ts'

/** Ports of the node itself are given out once. */
export const nodePorts: SchedulerPlugin = {
  name: 'NodePorts',
  preFilter: ({ pod }) => (hostPortsOf(pod.pod).length === 0 ? skip : undefined),
  filter: ({ pod }, { ports }) =>
    hostPortsOf(pod.pod).some(port => ports.conflictsWith(port))
      ? unschedulable("node(s) didn't have free ports for the requested pod ports")
      : undefined,
  wakesOn: event => event.resource === 'Node' || isRoomMade(event),
}
