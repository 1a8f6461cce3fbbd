import { nodesOf, type SchedulerPlugin, unresolvable } from '../plugin.ts'

/** A pod that names its node goes there or nowhere. */
export const nodeName: SchedulerPlugin = {
  name: 'NodeName',
  filter: ({ pod }, { name }) => {
    const wanted = pod.pod.spec.nodeName
    return wanted && wanted !== name
      ? unresolvable("node(s) didn't match the requested node name")
      : undefined
  },
  wakesOn: event => nodesOf(event, 'taints') !== undefined,
}
