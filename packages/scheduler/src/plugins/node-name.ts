import { nodesOf, type SchedulerPlugin, unresolvable } from '../plugin.ts'

/** A pod that names its node runs only there. */
export const nodeName: SchedulerPlugin = {
  name: 'NodeName',
  filter: ({ pod }, { name }) => {
    const requested = pod.pod.spec.nodeName
    return requested && requested !== name
      ? unresolvable("node(s) didn't match the requested node name")
      : undefined
  },
  wakesOn: event => nodesOf(event, 'taints') !== undefined,
}
