import { Namespace } from '@coxswain/api/core/v1'
import { labelOf, type NodeView, type PodView } from '@coxswain/kinds'
import { maxOf, minOf } from '@coxswain/kit'
import type { NodeInfo } from '../node-info.ts'
import {
  type ClusterEvent,
  type Cycle,
  type CycleData,
  highestScore,
  isChangeOf,
  isTaintChange,
  nodesOf,
  type SchedulerHandle,
  type SchedulerPlugin,
  skip,
  unresolvable,
  unschedulable,
} from '../plugin.ts'
import { type AffinityTerm, createPodInfo, type PodInfo } from '../pod-info.ts'
import { Counts } from './topology-counts.ts'

type Labels = Readonly<Record<string, string>>

export interface InterPodAffinityArgs {
  /** The weight of other pods' required terms in scoring. @default 1 */
  readonly hardPodAffinityWeight?: number
  /** @default false */
  readonly ignorePreferredTermsOfExistingPods?: boolean
}

/** The number of pods that match terms, by topology key and value. */
class Matches implements CycleData {
  readonly pod: PodInfo
  readonly ownLabels: Labels
  readonly labelsOf: (namespace: string) => Labels
  /** Existing pods that match the affinity terms of the incoming pod. */
  affinity = new Counts()
  /** Existing pods that match the anti-affinity terms of the incoming pod. */
  antiAffinity = new Counts()
  /** Existing pods whose anti-affinity terms match the incoming pod. */
  existing = new Counts()

  constructor(pod: PodInfo, labelsOf: (namespace: string) => Labels) {
    this.pod = pod
    this.labelsOf = labelsOf
    this.ownLabels = labelsOf(pod.pod.metadata.namespace ?? '')
  }

  clone(): Matches {
    const copy = new Matches(this.pod, this.labelsOf)
    copy.affinity = this.affinity.clone()
    copy.antiAffinity = this.antiAffinity.clone()
    copy.existing = this.existing.clone()
    return copy
  }

  addPod(other: PodInfo, node: NodeInfo): void {
    this.#update(other, node, 1)
  }

  removePod(other: PodInfo, node: NodeInfo): void {
    this.#update(other, node, -1)
  }

  #update(other: PodInfo, node: NodeInfo, delta: 1 | -1): void {
    this.countExisting(other, node, delta)
    this.countIncoming(other, node, delta)
  }

  countExisting(other: PodInfo, node: NodeInfo, delta: 1 | -1): void {
    for (const term of other.requiredAntiAffinity)
      if (term.matches(this.pod.pod, this.ownLabels)) this.existing.add(term.topologyKey, node.labels, delta)
  }

  countIncoming(other: PodInfo, node: NodeInfo, delta: 1 | -1): void {
    const { requiredAffinity, requiredAntiAffinity } = this.pod
    const labels = this.labelsOf(other.pod.metadata.namespace ?? '')
    if (matchesAll(requiredAffinity, other.pod, labels))
      for (const { topologyKey } of requiredAffinity) this.affinity.add(topologyKey, node.labels, delta)
    for (const term of requiredAntiAffinity)
      if (term.matches(other.pod, labels)) this.antiAffinity.add(term.topologyKey, node.labels, delta)
  }

  /** If no pod matches anywhere, a pod that matches its own affinity terms may be the first. */
  isNearEnough(node: NodeInfo): boolean {
    let isNear = true
    for (const { topologyKey } of this.pod.requiredAffinity) {
      if (labelOf(node.labels, topologyKey) === undefined) return false
      if (this.affinity.get(topologyKey, node.labels) <= 0) isNear = false
    }
    return (
      isNear || (this.affinity.isEmpty && matchesAll(this.pod.requiredAffinity, this.pod.pod, this.ownLabels))
    )
  }

  isFarEnough(node: NodeInfo): boolean {
    return this.pod.requiredAntiAffinity.every(
      ({ topologyKey }) => this.antiAffinity.get(topologyKey, node.labels) <= 0,
    )
  }
}

function matchesAll(terms: readonly AffinityTerm[], pod: PodView, labels: Labels): boolean {
  return terms.length > 0 && terms.every(term => term.matches(pod, labels))
}

const name = 'InterPodAffinity'
const scoreName = `${name}/score`

class Scores {
  readonly byTopology: Map<string, Map<string, number>> = new Map()

  add({ topologyKey }: AffinityTerm, labels: Labels, amount: number): void {
    const value = labelOf(labels, topologyKey)
    if (value === undefined) return
    const values = this.byTopology.get(topologyKey) ?? new Map<string, number>()
    values.set(value, (values.get(value) ?? 0) + amount)
    this.byTopology.set(topologyKey, values)
  }
}

/** Pods with affinity, and with anti-affinity. */
export function createInterPodAffinity(args: InterPodAffinityArgs = {}): SchedulerPlugin {
  const { hardPodAffinityWeight = 1, ignorePreferredTermsOfExistingPods = false } = args
  return {
    name,
    preFilter: cycle => {
      const { pod, nodes, nodesWithAffinity, handle, data } = cycle
      const matches = new Matches(pod, namespaceLabels(handle))
      const hasTerms = pod.requiredAffinity.length + pod.requiredAntiAffinity.length > 0
      for (const node of nodesWithAffinity)
        for (const other of node.podsWithRequiredAntiAffinity().values())
          matches.countExisting(other, node, 1)
      if (hasTerms)
        for (const node of nodes) for (const other of node.pods()) matches.countIncoming(other, node, 1)
      if (!hasTerms && matches.existing.isEmpty) return skip
      data.set(name, matches)
      return undefined
    },
    filter: ({ data }, node) => {
      const matches = data.get(name) as Matches
      if (!matches.isNearEnough(node)) return unresolvable("node(s) didn't match pod affinity rules")
      if (!matches.isFarEnough(node)) return unschedulable("node(s) didn't match pod anti-affinity rules")
      return matches.existing.hasAny(node.labels)
        ? unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
        : undefined
    },
    preScore: cycle => {
      const hasOwn = cycle.pod.preferredAffinity.length + cycle.pod.preferredAntiAffinity.length > 0
      if (ignorePreferredTermsOfExistingPods && !hasOwn) return skip
      const scores = collectScores(cycle, hasOwn, hardPodAffinityWeight)
      if (scores.byTopology.size === 0) return skip
      cycle.data.set(scoreName, scores)
      return undefined
    },
    score: ({ data }, { labels }) => {
      let sum = 0
      for (const [key, values] of (data.get(scoreName) as Scores).byTopology)
        sum += values.get(labelOf(labels, key) ?? '') ?? 0
      return sum
    },
    normalize: (_, scores) => {
      const values = scores.map(({ score }) => score)
      const lowest = minOf(values)
      const spread = maxOf(values) - lowest
      for (const entry of scores)
        entry.score = spread > 0 ? Math.trunc((highestScore * (entry.score - lowest)) / spread) : 0
    },
    wakesOn: (event, pod, handle) => {
      if (isChangeOf(event, pod, 'labels') || event.resource === 'Namespace' || isTaintChange(event))
        return true
      const nodes = nodesOf(event, 'labels')
      if (nodes) return isHelpedByNode(createPodInfo(pod), nodes)
      return event.resource === 'Pod' && isHelpedByPod(createPodInfo(pod), event, namespaceLabels(handle))
    },
  }
}

function isHelpedByNode(
  { requiredAffinity, requiredAntiAffinity }: PodInfo,
  { old, node }: { readonly old?: NodeView; readonly node: NodeView },
): boolean {
  const valueIn = (where: NodeView | undefined, key: string) => where?.metadata.labels?.[key]
  const isOther = ({ topologyKey }: AffinityTerm) =>
    valueIn(node, topologyKey) !== valueIn(old, topologyKey) && valueIn(node, topologyKey) !== undefined
  return (
    requiredAffinity.some(isOther) ||
    requiredAntiAffinity.some(
      term => !old || (valueIn(old, term.topologyKey) !== undefined && !isSameIn(term, old, node)),
    )
  )
}

function isSameIn({ topologyKey }: AffinityTerm, old: NodeView, node: NodeView): boolean {
  return old.metadata.labels?.[topologyKey] === node.metadata.labels?.[topologyKey]
}

/** Whether a matching pod was added, or one matching an anti-affinity term removed, in either direction. */
function isHelpedByPod(
  waiting: PodInfo,
  { old, object }: ClusterEvent,
  labelsOf: (namespace: string) => Labels,
): boolean {
  const { requiredAffinity: near, requiredAntiAffinity: far } = waiting
  const matches = (terms: readonly AffinityTerm[], other: unknown) =>
    other !== undefined &&
    matchesAll(terms, other as PodView, labelsOf((other as PodView).metadata.namespace ?? ''))
  if (matches(near, object) && !matches(near, old)) return true
  if (matches(far, old) && !matches(far, object)) return true
  if (object !== undefined) return false
  const ownLabels = labelsOf(waiting.pod.metadata.namespace ?? '')
  const { requiredAntiAffinity } = createPodInfo(old as PodView)
  return requiredAntiAffinity.some(term => term.matches(waiting.pod, ownLabels))
}

function namespaceLabels(handle: SchedulerHandle): (namespace: string) => Labels {
  const known = new Map<string, Labels>()
  return namespace => {
    let labels = known.get(namespace)
    if (!labels) {
      labels = handle.get(Namespace, { name: namespace })?.metadata.labels ?? {}
      known.set(namespace, labels)
    }
    return labels
  }
}

function collectScores(
  { pod, nodes, nodesWithAffinity, handle }: Cycle,
  hasOwn: boolean,
  hardWeight: number,
): Scores {
  const scores = new Scores()
  const labelsOf = namespaceLabels(handle)
  const ownLabels = labelsOf(pod.pod.metadata.namespace ?? '')
  for (const node of hasOwn ? nodes : nodesWithAffinity) {
    const others = hasOwn ? node.pods() : node.podsWithAffinity().values()
    for (const other of others) {
      const labels = labelsOf(other.pod.metadata.namespace ?? '')
      for (const term of pod.preferredAffinity)
        if (term.matches(other.pod, labels)) scores.add(term, node.labels, term.weight)
      for (const term of pod.preferredAntiAffinity)
        if (term.matches(other.pod, labels)) scores.add(term, node.labels, -term.weight)
      if (hardWeight > 0)
        for (const term of other.requiredAffinity)
          if (term.matches(pod.pod, ownLabels)) scores.add(term, node.labels, hardWeight)
      for (const term of other.preferredAffinity)
        if (term.matches(pod.pod, ownLabels)) scores.add(term, node.labels, term.weight)
      for (const term of other.preferredAntiAffinity)
        if (term.matches(pod.pod, ownLabels)) scores.add(term, node.labels, -term.weight)
    }
  }
  return scores
}
