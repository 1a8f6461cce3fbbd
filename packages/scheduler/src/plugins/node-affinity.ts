import type { NodeAffinity } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import {
  matchesNodeSelector,
  matchesNodeSelectorTerm,
  matchesRequiredNodeAffinity,
  type NodeView,
  type PodView,
} from '@coxswain/kinds'
import {
  isTaintChange,
  nodesOf,
  normalizeToHighest,
  type SchedulerPlugin,
  skip,
  unresolvable,
} from '../plugin.ts'

export interface NodeAffinityArgs {
  /** Additional affinity of every pod of the profile. */
  readonly addedAffinity?: DeepReadonly<NodeAffinity>
}

/** Node selectors and node affinity. */
export function createNodeAffinity({ addedAffinity }: NodeAffinityArgs = {}): SchedulerPlugin {
  const enforced = addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const preferredOf = (pod: PodView) => [
    ...(addedAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
  ]
  const matchesAddedAffinity = (pod: PodView, node: NodeView) =>
    (!enforced || matchesNodeSelector(enforced, node)) && matchesRequiredNodeAffinity(pod.spec, node)
  return {
    name: 'NodeAffinity',
    preFilter: ({ pod: { pod } }) => {
      const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      if (!required && !pod.spec.nodeSelector && !enforced) return skip
      const names = required && namedNodes(required.nodeSelectorTerms)
      if (!names) return undefined
      return names.size === 0 ? unresolvable('pod affinity terms conflict') : { nodes: names }
    },
    filter: ({ pod }, { node }) => {
      if (enforced && !matchesNodeSelector(enforced, node))
        return unresolvable("node(s) didn't match scheduler-enforced node affinity")
      return matchesRequiredNodeAffinity(pod.pod.spec, node)
        ? undefined
        : unresolvable("node(s) didn't match Pod's node affinity/selector")
    },
    preScore: ({ pod }) => (preferredOf(pod.pod).length === 0 ? skip : undefined),
    score: ({ pod }, { node }) => {
      let sum = 0
      for (const { weight, preference } of preferredOf(pod.pod))
        if (weight !== 0 && matchesNodeSelectorTerm(preference, node)) sum += weight
      return sum
    },
    normalize: (_, scores) => normalizeToHighest(scores),
    wakesOn: (event, pod) => {
      const nodes = nodesOf(event, 'labels')
      if (!nodes) return isTaintChange(event)
      return matchesAddedAffinity(pod, nodes.node) && !(nodes.old && matchesAddedAffinity(pod, nodes.old))
    },
  }
}

/** The only eligible nodes if every term names its nodes; undefined otherwise. */
function namedNodes(
  terms: readonly {
    readonly matchFields?: readonly {
      readonly key: string
      readonly operator: string
      readonly values?: readonly string[]
    }[]
  }[],
): Set<string> | undefined {
  const all = new Set<string>()
  for (const { matchFields = [] } of terms) {
    let names: Set<string> | undefined
    for (const { key, operator, values = [] } of matchFields) {
      if (key !== 'metadata.name' || operator !== 'In') continue
      names = new Set(names ? values.filter(value => names?.has(value)) : values)
    }
    if (!names) return undefined
    for (const name of names) all.add(name)
  }
  return all
}
