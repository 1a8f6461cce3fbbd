import { tolerates } from '@coxswain/kinds'
import { isChangeOf, nodesOf, type SchedulerPlugin, unresolvable } from '../plugin.ts'

const unschedulableTaint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const

/** Cordoned nodes accept only pods that tolerate it. */
export const nodeUnschedulable: SchedulerPlugin = {
  name: 'NodeUnschedulable',
  filter: ({ pod }, { node }) => {
    if (!node.spec?.unschedulable) return undefined
    const isTolerated = pod.pod.spec.tolerations?.some(toleration =>
      tolerates(toleration, unschedulableTaint),
    )
    return isTolerated ? undefined : unresolvable('node(s) were unschedulable')
  },
  wakesOn: (event, pod) => {
    const nodes = nodesOf(event, 'taints')
    if (!nodes) return isChangeOf(event, pod, 'tolerations')
    return !nodes.node.spec?.unschedulable && (!nodes.old || nodes.old.spec?.unschedulable === true)
  },
}
