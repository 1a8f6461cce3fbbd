import { findTaintAgainstScheduling, tolerates } from '@coxswain/kinds'
import { isChangeOf, nodesOf, normalizeToHighest, type SchedulerPlugin, unresolvable } from '../plugin.ts'

/** Rejects nodes whose taints the pod does not tolerate, and prefers nodes with few PreferNoSchedule taints. */
export const taintToleration: SchedulerPlugin = {
  name: 'TaintToleration',
  filter: ({ pod }, { node }) =>
    findTaintAgainstScheduling(node, pod.pod.spec.tolerations)
      ? unresolvable('node(s) had untolerated taint(s)')
      : undefined,
  score: ({ pod }, { node }) => {
    const advised = (pod.pod.spec.tolerations ?? []).filter(
      ({ effect }) => !effect || effect === 'PreferNoSchedule',
    )
    const taints = node.spec?.taints ?? []
    return taints.filter(
      taint =>
        taint.effect === 'PreferNoSchedule' && !advised.some(toleration => tolerates(toleration, taint)),
    ).length
  },
  normalize: (_, scores) => normalizeToHighest(scores, true),
  wakesOn: (event, pod) => {
    const nodes = nodesOf(event, 'taints')
    if (!nodes) return isChangeOf(event, pod, 'tolerations')
    const wasBad = !nodes.old || findTaintAgainstScheduling(nodes.old, pod.spec.tolerations) !== undefined
    return wasBad && !findTaintAgainstScheduling(nodes.node, pod.spec.tolerations)
  },
}
